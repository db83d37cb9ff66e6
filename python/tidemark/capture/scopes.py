"""What has to be stood in for while a recorder looks on, and put back: module calls, custom functions, vmap, autocast, the question whether gradients are on."""

import collections.abc
import contextlib
import gc

import torch

from .recorder import Call, Op, Recorder, call_arguments, is_tensor
from .slots import tell_slots
from .terms import leaves
from .vmaps import vmap_within


def _module_call(recorder, original):
    def called(self, *args, **kwargs):
        path = recorder.paths.get(id(self))
        frame = recorder.enter("class", type(self).__name__, path, call_arguments(args, kwargs))
        frame.checkpointable = any(c.__name__ == "GradientCheckpointingLayer" for c in type(self).__mro__)
        out = None
        try:
            out = original(self, *args, **kwargs)
            return out
        finally:
            if frame.checkpointable:
                frame.filled = _values_in((*args, *kwargs.values()))
            recorder.leave(frame, out)

    return called


def _values_in(arguments):
    """The numbers of the values that lie in dicts among these (transformers/models/gemma4: shared_kv_states)."""
    dicts = (dict(x) for x in arguments if isinstance(x, collections.abc.MutableMapping))
    return frozenset(tensor.__dict__["_tidemark_value"] for x in dicts for _, tensor in leaves(x, is_tensor) if "_tidemark_value" in tensor.__dict__)


def _module_attribute(recorder, original):
    def assigned(self, name, value):
        original(self, name, value)
        if is_tensor(value):
            recorder.keep(self, name, value)

    return assigned


def _module_buffer(recorder, original):
    def registered(self, name, tensor, persistent=True):
        original(self, name, tensor, persistent)
        if is_tensor(tensor):
            recorder.keep(self, name, tensor)

    return registered


def _module_weight(recorder, original):
    def got(self, name):
        value = original(self, name)
        if isinstance(value, torch.nn.Parameter):
            recorder.look(self, value)
        return value

    return got


def _function_apply(recorder, original):
    def applied(cls, *args, **kwargs):
        if recorder.is_below:
            return original.__get__(None, cls)(*args, **kwargs)
        frame = recorder.enter("function", cls.__name__, None, call_arguments(args, kwargs))
        out = None
        try:
            out = original.__get__(None, cls)(*args, **kwargs)
            return out
        finally:
            recorder.leave(frame, out)

    return classmethod(applied)


def _save_for_backward(recorder, original):
    def saved(self, *tensors):
        if recorder.is_below:
            return original(self, *tensors)
        with torch._C.DisableTorchFunction():
            recorder.frame.saved = [recorder.argument(t) for t in tensors if is_tensor(t)]
        return original(self, *tensors)

    return saved


def _autocast_enter(recorder, original):
    def entered(self):
        state = [("device", "device" if self.device == recorder.device.type else self.device), ("dtype", recorder.argument(self.fast_dtype)), ("enabled", str(self._enabled))]
        recorder.frame.events.append(Op("enter autocast", (), tuple(state), (), None))
        return original(self)

    return entered


def _autocast_exit(recorder, original):
    def left(self, *args):
        recorder.frame.events.append(Op("exit autocast", (), (), (), None))
        return original(self, *args)

    return left


@contextlib.contextmanager
def _in_place_of(owner, name, replacement):
    before = vars(owner)[name]
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def recording(model, device):
    """A recorder that sees what is done below; no cycle is collected meanwhile, so that what dies dies by its count."""
    recorder = Recorder(model, device)
    Function, Context, Autocast = torch.autograd.Function, torch.autograd.function.FunctionCtx, torch.autocast
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode())
        for owner, name, made in (
            (torch.nn.Module, "__call__", _module_call),
            (torch.nn.Module, "__setattr__", _module_attribute),
            (torch.nn.Module, "register_buffer", _module_buffer),
            (torch.nn.Module, "__getattr__", _module_weight),
            (Function, "apply", _function_apply),
            (Context, "save_for_backward", _save_for_backward),
            (torch, "vmap", vmap_within),
            (Autocast, "__enter__", _autocast_enter),
            (Autocast, "__exit__", _autocast_exit),
        ):
            stack.enter_context(_in_place_of(owner, name, made(recorder, vars(owner)[name])))
        stack.enter_context(_in_place_of(torch, "is_grad_enabled", lambda: recorder.grad_enabled))
        stack.enter_context(_in_place_of(torch, "is_inference_mode_enabled", lambda: False))
        collecting = gc.isenabled()
        gc.disable()
        try:
            stack.enter_context(recorder)
            yield recorder
        finally:
            if collecting:
                gc.enable()


def record(model, batch, device):
    """The frame of `model(**batch)`, with the recorder that saw it.  `batch` is emptied: the caller's names are no holders."""
    with recording(model, device) as recorder:
        with torch._C.DisableTorchFunction():
            recorder.inputs = [(path, recorder.term(t)) for path, t in leaves(batch, is_tensor)]
        out = model(**batch)
        recorder.root = next(e.frame for e in recorder.top.events if isinstance(e, Call))
        recorder.alive_at_return = set(recorder.alive)
        del out
        batch.clear()
    recorder.left_alive = set(recorder.alive)
    tell_slots(recorder)
    return recorder
