"""Which `nn.Module` is running, by the name that `named_modules` gives it.

`Module.__call__` is wrapped by a function that keeps what the original keeps (its arguments, until it returns) and nothing more;
module hooks would do the same work but put every module on PyTorch's slow path.  Modules are remembered weakly: a model that the
program drops must go.
"""

import gc
import weakref

from . import batches, door, losses, marks, phases


class _Names:
    """Module numbers by object; filled from the root that is called first."""

    def __init__(self):
        self.known = {}     # id(module) → (weak reference, number in the extension)
        self.owners = {}    # id(parameter or buffer) → number of the module that holds it
        self.roots = {}     # id(root) → weak reference

    @losses.guarded("modules are not named")
    def learn(self, root):
        from torch.nn import Module

        self.roots[id(root)] = weakref.ref(root)
        for name, module in Module.named_modules(root):
            number = self._number_of(module)
            if number is None:
                number = self._name(module, name or type(root).__name__)
            for tensor in _own_tensors(module):
                self.owners.setdefault(id(tensor), number)
        mark_parameters(root)

    def owner(self, tensor):
        return self.owners.get(id(tensor), 0)

    @losses.guarded("modules are not named")
    def number(self, module, outermost):
        if outermost and not self._is_known_root(module):
            self.learn(module)
        number = self._number_of(module)
        return self._name(module, type(module).__name__) if number is None else number

    def _number_of(self, module):
        reference, number = self.known.get(id(module), (None, None))
        return number if reference is not None and reference() is module else None   # an id is used again when its object is gone

    def _name(self, module, name):
        number = door.library().tidemark_module_id(name.encode())
        self.known[id(module)] = (weakref.ref(module), number)
        return number

    def _is_known_root(self, module):
        reference = self.roots.get(id(module))
        return reference is not None and reference() is module


names = _Names()


@losses.guarded("parameters are not told from activations")
def mark_parameters(root):
    """Of ZeRO-3 this rank's part (`ds_tensor`, deepspeed/runtime/zero/partition_parameters.py); the whole is there for as long as it is used."""
    from torch.nn import Module

    tensors = (tensor for _, module in Module.named_modules(root) for tensor in _own_tensors(module))
    marks.mark(marks.PARAMETERS, ((getattr(tensor, "ds_tensor", tensor), names.owner(tensor)) for tensor in tensors))


def _own_tensors(module):
    """Not by the module's methods: a subclass may have something else by such a name (`buffers` of Megatron-LM's DistributedDataParallel is a list)."""
    return [tensor for tensor in (*module._parameters.values(), *module._buffers.values()) if tensor is not None]


@losses.guarded("parameters are not told from activations")
def mark_all_parameters():
    """Of the models that were called; where none was (the card was full before), of every module there is."""
    import torch

    roots = [root for root in (reference() for reference in names.roots.values()) if root is not None]
    if not names.roots:
        every = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.nn.Module)]
        inner = {id(child) for module in every for child in torch.nn.Module.children(module)}
        roots = [module for module in every if id(module) not in inner]
        for root in roots:
            names.learn(root)
    for root in roots:
        mark_parameters(root)


def watch():
    import torch

    real_call = torch.nn.Module.__call__
    enter = door.library().tidemark_enter_module
    is_compiling, is_grad_enabled = torch.compiler.is_compiling, torch.is_grad_enabled

    def __call__(self, *args, **kwargs):
        if is_compiling():
            return real_call(self, *args, **kwargs)
        outer = enter(0)
        if outer == 0 and phases.forward_begins() and is_grad_enabled():
            batches.batches.note(args, kwargs)
        enter(names.number(self, outer == 0) or 0)
        try:
            return real_call(self, *args, **kwargs)
        finally:
            enter(outer)

    torch.nn.Module.__call__ = __call__
