"""Which `nn.Module` is running, by the name that `named_modules` gives it.

`Module.__call__` is wrapped by a function that keeps what the original keeps (its arguments, until it returns) and nothing more;
module hooks would do the same work but put every module on PyTorch's slow path.
"""

from . import door, phases


class _Names:
    """Module ids by object; filled from the root that is called first."""

    def __init__(self):
        self.ids = {}       # id(module) → number in the extension
        self.roots = {}     # id(root) → the root, so that its parameters can be found (and its id is not reused)

    def learn(self, root):
        self.roots[id(root)] = root
        library = door.library()
        for name, module in root.named_modules():
            self.ids.setdefault(id(module), library.tidemark_module_id((name or type(root).__name__).encode()))

    def number(self, module, outermost):
        number = self.ids.get(id(module))
        if number is None or (outermost and id(module) not in self.roots):
            if outermost:
                self.learn(module)
            else:
                self.ids[id(module)] = door.library().tidemark_module_id(type(module).__name__.encode())
            number = self.ids[id(module)]
        return number


names = _Names()


def watch():
    import torch

    real_call = torch.nn.Module.__call__
    enter = door.library().tidemark_enter_module
    is_compiling = torch.compiler.is_compiling

    def __call__(self, *args, **kwargs):
        if is_compiling():
            return real_call(self, *args, **kwargs)
        outer = enter(0)
        if outer == 0:
            phases.forward_begins()
        enter(names.number(self, outer == 0))
        try:
            return real_call(self, *args, **kwargs)
        finally:
            enter(outer)

    torch.nn.Module.__call__ = __call__
