"""Which `nn.Module` is running, by the name that `named_modules` gives it.

`Module.__call__` is replaced by a function that keeps what the original keeps (its arguments, until it returns) and nothing more;
module hooks would do the same work but put every module on PyTorch's slow path.  Modules are remembered weakly: a model that the
program drops must go.
"""

import dis
import gc
import sys
import weakref

from . import batches, door, losses, marks, phases


class _Names:
    """Module numbers by object; filled from the root that is called first."""

    def __init__(self):
        self.known = {}  # id(module) → (weak reference, number in the extension)
        self.owners = {}  # id(parameter or buffer) → number of the module that holds it
        self.roots = {}  # id(root) → weak reference

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
        return number if reference is not None and reference() is module else None  # an id is used again when its object is gone

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


@losses.guarded("batches are not told apart")
def _note_batch(args, kwargs):
    batches.batches.note(args, kwargs)


def watch():
    """Every module of a training passes here: no container is made in the calls of a known one, which the collector would count (collector.py)."""
    import torch

    real_call = torch.nn.Module.__call__
    mirrored = _is_as_mirrored(real_call)
    enter, forward_begins, number_of, known = door.library().tidemark_enter_module, phases.forward_begins, names.number, names.known
    is_compiling, is_grad_enabled = torch.compiler.is_compiling, torch.is_grad_enabled

    def __call__(self, *args, **kwargs):
        if is_compiling():
            return real_call(self, *args, **kwargs)
        outer = enter(0)
        reference, number = known.get(id(self), _UNKNOWN)
        if outer == 0:
            if forward_begins() and is_grad_enabled():
                _note_batch(args, kwargs)
            number = number_of(self, True)
        elif reference is None or reference() is not self:
            number = number_of(self, False)
        enter(number or 0)
        try:
            if not mirrored:
                return real_call(self, *args, **kwargs)
            if self._compiled_call_impl is not None:
                return self._compiled_call_impl(*args, **kwargs)
            return self._call_impl(*args, **kwargs)
        finally:
            enter(outer)

    if mirrored:
        __call__.__code__ = _standing_for(__call__.__code__, real_call.__code__)
    torch.nn.Module.__call__ = __call__


_UNKNOWN = (None, None)


def _standing_for(ours, theirs):
    """In a traceback, and for what asks in which file a call is, it is torch's: at the line of the call that it stands for."""

    def line(code, name):
        return [where.positions.lineno for where in dis.get_instructions(code) if where.argval == name][-1]

    later = next(where.offset for where in dis.get_instructions(ours) if where.argval == "_call_impl")
    compiled, plain = line(theirs, "_compiled_call_impl"), line(theirs, "_call_impl")
    lines = _lines(later // 2, compiled - theirs.co_firstlineno) + _lines(len(ours.co_code) // 2 - later // 2, plain - compiled)
    return ours.replace(co_filename=theirs.co_filename, co_name=theirs.co_name, co_qualname=theirs.co_qualname, co_firstlineno=theirs.co_firstlineno, co_linetable=lines)


def _lines(units, further):
    """Of `units` units of code, all at one line, so much further than the one before: CPython's Objects/locations.md, entries of kind 13 (3.11 to 3.13)."""
    assert 0 <= further < 32
    entries = [0x80 | 13 << 3 | min(8, units - at) - 1 for at in range(0, units, 8)]
    return bytes(byte for number, entry in enumerate(entries) for byte in (entry, 0 if number else further << 1))


def _is_as_mirrored(real_call):
    """To call it from ours would make its arguments' containers twice; what it does is done in ours where it is what every known torch has
    (torch/nn/modules/module.py, _wrapped_call_impl, 2.6 to 2.15)."""

    def _wrapped_call_impl(self, *args, **kwargs):
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        else:
            return self._call_impl(*args, **kwargs)

    code = getattr(real_call, "__code__", None)
    return sys.version_info >= (3, 11) and code is not None and (code.co_code, code.co_names) == (_wrapped_call_impl.__code__.co_code, _wrapped_call_impl.__code__.co_names)
