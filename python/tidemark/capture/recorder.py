"""Records one forward pass: a tree of frames (a module's call, a custom function, a vmap) with events in order.

The recorder is neutral: it holds no tensor.  A tensor is known by a number that it carries as an attribute, and its death by a weak
reference.  It runs in inference mode, where neither a graph nor a view keeps a tensor alive beyond its last Python name, while the model is
told that gradients are on; what they keep is for those who run the program.
"""

import weakref

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from .terms import DtypeOf, Listed, Number, Ref, Slice, Typed, Weight, leaves

# Functions with which the host reads data (torch/_tensor.py, python_variable_methods.cpp).
HOST_READS = {"item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__contains__", "__array__", "numpy", "equal", "allclose", "is_nonzero"}
CASTS = {"to", "type", "type_as", "float", "double", "half", "bfloat16"}
_DTYPES_OF_PYTHON = {bool: torch.bool, int: torch.int64, float: torch.float64}  # torch/csrc/utils/python_arg_parser.h, toScalarType
SIZED_BY_DATA = {"nonzero", "masked_select", "unique", "unique_consecutive", "argwhere", "bincount", "_unique2"}


class Op:
    """A torch function was called."""

    def __init__(self, name, args, kwargs, results, mark):
        self.name, self.args, self.kwargs, self.results, self.mark = name, args, kwargs, results, mark


class Call:
    """A frame was entered, and left before the next event."""

    def __init__(self, frame):
        self.frame = frame


class Death:
    """The last reference to a value's Python object went."""

    def __init__(self, ref):
        self.ref = ref


class Kept:
    """A module's attribute took a value: one that is not there at first, whose name it would have, or the one at this path."""

    def __init__(self, ref, path=None, name=None):
        self.ref, self.path, self.name = ref, path, name


class Frame:
    def __init__(self, kind, name, path, parent):
        self.kind, self.name, self.path, self.parent = kind, name, path, parent  # kind: class, function, scope
        self.events, self.given, self.returned, self.saved = [], [], [], []  # given and returned: (path, term)
        self.checkpointable = False
        self.filled = frozenset()  # numbers of values in dicts that a layer was given, which a checkpoint of it holds


class Seen:
    """What is known of a tensor."""

    def __init__(self, frame, dtype, shape, on_device):
        self.frame, self.dtype, self.shape, self.on_device = frame, dtype, shape, on_device


def is_tensor(x):
    return isinstance(x, torch.Tensor)


def tensor_attributes(model):
    """(path, tensor) of parameters, buffers, and tensors that modules have as plain attributes; the first path of those that are shared."""
    yield from model.named_parameters()
    yield from model.named_buffers()
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if is_tensor(value):
                yield f"{prefix}.{name}" if prefix else name, value


def call_arguments(args, kwargs):
    """(path, tensor)s: `0`, `1.0`, `hidden_states`, `position_embeddings.0`."""
    yield from leaves(tuple(args), is_tensor)
    yield from leaves(kwargs, is_tensor)


class Recorder(TorchFunctionMode):
    def __init__(self, model, device):
        super().__init__()
        self.paths = {id(m): path for path, m in model.named_modules()}
        self.weights, self.weight_types, self.kept = {}, {}, []
        for path, tensor in tensor_attributes(model):
            self.weights.setdefault(id(tensor), path)
            self.kept.append(weakref.ref(tensor, lambda _, number=id(tensor): self.weights.pop(number, None)))  # another may get its number
            self.weight_types[path] = (DtypeOf(str(tensor.dtype).removeprefix("torch.")), tuple(Number(d, True) for d in tensor.shape))
        self.device, self.model_dtype = torch.device(device), str(next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)).removeprefix("torch.")
        self.frame = self.top = Frame("scope", "program", "", None)
        self.seen, self.alive, self.names, self.grad_enabled = [], {}, {}, True
        self.asks_for_gradients = 0  # how often a value is told to need one
        self.by_chance = set()  # what was drawn on the host
        self.read = set()  # paths of weights that came by
        self.minds_autocast = False  # under it something is done, or held, that is not without it (dtypes.py)
        self.is_below = False  # operators are noted, not functions (vmaps.py)
        self.inputs, self.root, self.alive_at_return, self.left_alive = [], None, set(), set()  # known when it is over

    def term(self, tensor):
        """The term of a tensor, which is a new value if it was never seen."""
        path = self.weights.get(id(tensor))
        if path is not None:
            self.read.add(path)
            return Weight(path)
        number = tensor.__dict__.get("_tidemark_value")
        if number is None:
            number = tensor._tidemark_value = len(self.seen)
            self.seen.append(Seen(self.frame, str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), tensor.device.type == self.device.type))
            self.alive[number] = weakref.ref(tensor, lambda _, number=number: self._died(number))
        return Ref(number)

    def _died(self, number):
        del self.alive[number]
        self.frame.events.append(Death(Ref(number)))

    def argument(self, x):
        """An argument as a term; tensors that no function was seen to make get an event of their own."""
        if is_tensor(x):
            new = id(x) not in self.weights and "_tidemark_value" not in x.__dict__
            term = self.term(x)
            if new:
                self.frame.events.append(Op(None, (), (), (self.result(term, ("unseen",)),), None))
            return term
        if x is None or isinstance(x, bool):
            return str(x)
        if isinstance(x, int):
            return Number(int(x), False)
        if isinstance(x, float):
            return float.__repr__(x)  # of numpy's, too
        if isinstance(x, str):
            return '"' + x.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if isinstance(x, (list, tuple)):
            return Listed(tuple(map(self.argument, x)))
        if isinstance(x, slice):
            return Slice(self.argument(x.start), self.argument(x.stop), self.argument(x.step))
        if isinstance(x, type):
            x = _DTYPES_OF_PYTHON.get(x, x)
        if isinstance(x, torch.dtype):
            return DtypeOf(str(x).removeprefix("torch."))
        if isinstance(x, torch.device):
            return "device" if x.type == self.device.type else x.type
        return "..." if x is Ellipsis else f"<{type(x).__name__}>"

    def result(self, term, flags=()):
        seen = self.seen[term.value]
        flags = tuple(flags) if seen.on_device or "cpu" in flags else (*flags, "cpu")
        return Typed(term, DtypeOf(seen.dtype), tuple(Number(int(d), True) for d in seen.shape), flags)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.is_below:
            return func(*args, **kwargs)
        name = self.names.get(func)
        if name is None:
            name = self.names[func] = function_name(func)
        last = name.rpartition(".")[2]
        if last == "_set_grad_enabled":  # noted, not done: all of it is in inference mode
            self.grad_enabled = bool(args[0])
            self.frame.events.append(Op("set_grad_enabled", (str(self.grad_enabled),), (), (), None))
            return None
        if last == "__set__" and func.__self__ is torch.Tensor.requires_grad:
            self.asks_for_gradients += bool(args[1])
            if args[1] and id(args[0]) not in self.weights:
                self.note("torch.Tensor.requires_grad_", (args[0],), {}, (), None)
        if last == "__iter__":  # torch/_tensor.py: Tensor.__iter__ is unbind(0)
            parts = args[0].unbind(0)
            self.note("torch.Tensor.unbind", (args[0], 0), {}, parts, None)
            return iter(parts)
        out = func(*args, **kwargs)
        if self.is_of_chance(name, args, out):
            return out
        is_kept = id(out) in self.weights and not isinstance(out, torch.nn.Parameter)  # buffers are cast to what they are
        if last in CASTS and out is args[0] and not is_kept and storage_of(out) is not None:
            out = torch.ops.aten.alias(out)  # an object of its own, as it is where the cast makes another tensor: whose names both are told apart by their deaths
        if last == "__format__" and is_tensor(args[0]) and args[0].dim() == 0:  # torch/_tensor.py: a number in a message is read
            self.note("torch.Tensor.item", args[:1], {}, (), "host 1")
        if last in HOST_READS:
            self.note(name, args, kwargs, (), "host " + spelled(out))
        elif last == "__setitem__" or any(True for _ in leaves(out, is_tensor)):
            self.note(name, args, {**kwargs, **found_by(last, args)}, out, "data" if sized_by_data(last, args) else None)
        return out

    def is_of_chance(self, name, args, out):
        """Whether it is a number that the host draws, which is then 1, or made of such: nothing of it is noted (chance.py)."""
        if name == "torch.rand" and out.dim() == 0 and out.device.type != self.device.type:
            out.fill_(1.0)
            self.by_chance.add(name)
        elif not any(is_tensor(x) and "_tidemark_chance" in x.__dict__ for x in args):
            return False
        if is_tensor(out):
            out._tidemark_chance = True
        return True

    def note(self, name, args, kwargs, out, mark):
        if name in ("torch.tensor", "torch.as_tensor") and args and not is_tensor(args[0]):
            given = ("data", *map(self.argument, args[1:]))
        else:
            given = tuple(map(self.argument, args))
        named = tuple((key, self.argument(value)) for key, value in kwargs.items())
        storages = {storage_of(t) for _, t in leaves((args, kwargs), is_tensor)} - {None}
        results = []
        for _, tensor in leaves(out, is_tensor):
            known = id(tensor) in self.weights or "_tidemark_value" in tensor.__dict__
            term = self.term(tensor)
            results.append(term if known else self.result(term, ("view",) if storage_of(tensor) in storages else ()))
        self.frame.events.append(Op(name, given, named, tuple(results), mark))

    def keep(self, module, name, tensor):
        with torch._C.DisableTorchFunction():
            term = self.argument(tensor)
        above = self.paths.get(id(module))
        path = f"{above}.{name}" if above else name
        if above is not None and path in self.weight_types:
            if term != Weight(path):
                self.frame.events.append(Kept(term, path))
        elif isinstance(term, Ref):
            self.frame.events.append(Kept(term, name=path))

    def look(self, module, tensor):
        """Another module's weight is asked for, if only for its type: who has it in pieces puts it together then (deepspeed/runtime/zero/parameter_offload.py, ZeROOrderedDict)."""
        frame = self.frame
        while frame.path is None and frame.parent is not None:
            frame = frame.parent
        path = self.weights.get(id(tensor))
        if path is not None and not self.is_below and frame is not self.top and self.paths.get(id(module)) != frame.path:
            self.frame.events.append(Op("look", (Weight(path),), (), (), None))

    def enter(self, kind, name, path, arguments):
        """A frame that begins here, given (path, tensor)s."""
        frame = Frame(kind, name, path, self.frame)
        with torch._C.DisableTorchFunction():
            frame.given = [(where, self.argument(tensor)) for where, tensor in arguments]
        self.frame.events.append(Call(frame))
        self.frame = frame
        return frame

    def leave(self, frame, out):
        with torch._C.DisableTorchFunction():
            frame.returned = [(where, self.argument(tensor)) for where, tensor in leaves(out, is_tensor)]
        self.frame = frame.parent


def function_name(func):
    """By the name that torch gives it."""
    if type(func).__module__ == "torch._ops":
        return "torch.ops." + str(func)
    name = resolve_name(func) or getattr(func, "__qualname__", None) or str(func)
    return name.replace("torch._C._nn.", "torch.nn.functional.").replace("torch.functional.", "torch.")


def storage_of(tensor):
    """What tells one storage from another, as long as both are alive; None of those that have none (vmap's, functional ones)."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None


def sized_by_data(last, args):
    """Whether the shape of the function's result, or what it writes, depends on data."""
    if last in SIZED_BY_DATA or (last == "where" and len(args) == 1):
        return True
    if last == "repeat_interleave" and len(args) > 1 and is_tensor(args[1]):
        return True
    if last not in ("__getitem__", "__setitem__"):
        return False
    index = args[1] if isinstance(args[1], (tuple, list)) else (args[1],)
    return any(is_tensor(i) and i.dtype in (torch.bool, torch.uint8) and i.dim() for i in index)


def found_by(last, args):
    """How much of a mask is true, where what is written does not tell it: one row for all of it."""
    if last != "__setitem__" or not (is_tensor(args[1]) and args[1].dtype == torch.bool and is_tensor(args[2]) and args[2].dim() <= args[0].dim() - args[1].dim()):
        return {}
    return {"found": int(args[1].sum())}


def spelled(value):
    """What the host read, on one line."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(spelled, value)) + "]"
    return repr(value) if isinstance(value, (bool, int, float)) else f"<{type(value).__name__}>"
