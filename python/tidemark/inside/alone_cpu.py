"""The `gloo` backend for one rank alone: PyTorch's own "fake" one, whose tensors on the host get the data that libnccl would give.

The rules are those of virtual_gpu/nccl.cpp, Note [Alone].
"""

import ctypes
import functools
import inspect

from . import world

_library = ctypes.CDLL(None)
_library.tidemark_keep_message.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
_library.tidemark_take_message.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def stand_in_for_gloo(c10d):
    from torch._C._distributed_c10d import FakeProcessGroup, HashStore

    real = c10d.ProcessGroupGloo

    class AnyGloo(type):
        def __instancecheck__(cls, instance):
            return isinstance(instance, (real, FakeProcessGroup))

    class ProcessGroupGloo(metaclass=AnyGloo):
        def __new__(cls, store, rank, size, *args, **kwargs):
            return real(store, rank, size, *args, **kwargs) if size == 1 else _fake(FakeProcessGroup, rank, size)

    @functools.cache
    def lone_backend():
        return real(HashStore(), 0, 1, c10d.default_pg_timeout)

    @functools.cache
    def lone_group():
        import torch

        group = c10d.ProcessGroup(c10d.PrefixStore("lone", HashStore()), 0, 1)
        group._set_default_backend(c10d.ProcessGroup.BackendType.GLOO)
        group._register_backend(torch.device("cpu"), c10d.ProcessGroup.BackendType.GLOO, lone_backend())
        return group

    _answer_as(FakeProcessGroup, real, lone_backend)
    _answer_as(c10d.ProcessGroup, c10d.ProcessGroup, lone_group)
    c10d.ProcessGroupGloo = ProcessGroupGloo
    _give_data(c10d)


def _answer_as(stand_in, real, lone):
    """Gives `stand_in` the rest of the Python interface of `real`: what moves no tensors, and its own C++ lacks or refuses, `lone()` answers, which is gloo's own
    group of this rank by itself."""
    for name in dir(real):
        method = inspect.getattr_static(real, name)
        if isinstance(method, property) and not hasattr(stand_in, name):  # torch 2.8.0: distributed_c10d.py writes to a backend's `options`
            setattr(stand_in, name, property(functools.partial(_of_lone, name, lone)))
        if name.startswith("__") or not callable(method) or isinstance(method, (type, staticmethod)) or "Tensor" in (method.__doc__ or ""):
            continue
        setattr(stand_in, name, _own_or_of_lone(getattr(stand_in, name, None), name, lone))


def _of_lone(name, lone, _):
    return getattr(lone(), name)


def _own_or_of_lone(own, name, lone):
    def call(self, *args, **kwargs):
        if own is not None:
            try:
                return own(self, *args, **kwargs)
            except RuntimeError as error:
                # "Backend fake does not support …" (Backend.hpp), which in torch 2.6 has not even that name: what another backend refuses is refused
                if "fake" not in str(error) and "getBackendName is not implemented" not in str(error):
                    raise
        return getattr(lone(), name)(*args, **kwargs)

    call.__name__ = name
    return call


def _fake(group, rank, size):
    return group._create_internal(rank, size) if hasattr(group, "_create_internal") else group(rank, size)


def _on_host(tensor, group, c10d):
    """A tensor of whole numbers that a group of several, through gloo, is to fill."""
    return not tensor.is_cuda and not tensor.is_floating_point() and not tensor.is_complex() and (group is None or group is not c10d.GroupMember.NON_GROUP_MEMBER) and c10d.get_world_size(group) > 1


def _channel(group, what, c10d):
    return f"{c10d._get_process_group_name(group or c10d._get_default_group())}-host-{what}".encode()


def _keep(tensor, channel):
    data = tensor.detach().contiguous()
    _library.tidemark_keep_message(channel, data.data_ptr(), data.numel() * data.element_size())


def _take(tensor, channel, source):
    data = tensor.detach().contiguous()
    _library.tidemark_take_message(channel, data.data_ptr(), data.numel() * data.element_size(), source)
    if data.data_ptr() != tensor.data_ptr():
        tensor.copy_(data)


def _give_data(c10d):
    def after(name, give):
        real = getattr(c10d, name)

        @functools.wraps(real)
        def call(tensor, *args, **kwargs):
            work = real(tensor, *args, **kwargs)
            give(tensor, *args, **kwargs)
            return work

        setattr(c10d, name, call)

    def peer(source, group, group_peer):
        return source if group_peer is None else c10d.get_global_rank(group, group_peer)

    def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
        if _on_host(tensor, group, c10d):
            source = peer(src, group, group_src)
            channel = _channel(group, f"broadcast{source}", c10d)
            _keep(tensor, channel) if source == world.rank else _take(tensor, channel, source)

    def send(tensor, dst=None, group=None, tag=0, group_dst=None):
        if _on_host(tensor, group, c10d):
            _keep(tensor, _channel(group, f"{world.rank}to{peer(dst, group, group_dst)}.{tag}", c10d))

    def recv(tensor, src=None, group=None, tag=0, group_src=None):
        if _on_host(tensor, group, c10d):
            source = peer(src, group, group_src)
            if source is None:
                world.refuse("a receive from any rank cannot be known from one rank alone", "name the source")
            _take(tensor, _channel(group, f"{source}to{world.rank}.{tag}", c10d), source)

    def all_reduce(tensor, op=c10d.ReduceOp.SUM, group=None, async_op=False):
        if _on_host(tensor, group, c10d) and op == c10d.ReduceOp.SUM and tensor.dtype is not _bool():
            tensor.mul_(c10d.get_world_size(group))

    for name, give in (("broadcast", broadcast), ("send", send), ("isend", send), ("recv", recv), ("irecv", recv), ("all_reduce", all_reduce)):
        after(name, give)


def _bool():
    import torch

    return torch.bool
