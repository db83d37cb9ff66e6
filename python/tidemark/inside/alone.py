"""torch.distributed for one rank that runs without the others.

The `nccl` backend is PyTorch's own, over our libnccl (virtual_gpu/nccl.cpp, Note [Alone]).  What it needs besides is here: a store in
which the others have always been already, the names and members of communicators, and which calls await the data of another rank.
"""

import ctypes
import functools
import hashlib
import os
import re

from . import alone_cpu, leaving, relied_on, world

# ProcessGroupNCCL::broadcastUniqueNCCLID: a counter, or two ranks.  The store of a group lies in that of the default group: default_pg/0//3//cuda//0.
# Since torch 2.15 the number of the attempt comes behind it (NCCLBootstrap::exchangeUniqueId): default_pg/0//cuda//0/nccl_storekey_0.
_NCCL_KEY = re.compile(r"default_pg/(?:.+//)?(?P<group>.+?)//cuda//(?P<key>\d+|\d+:\d+)(?:/nccl_storekey_\d+)?$")
_library = ctypes.CDLL(None)  # libtidemark_gpu.so is preloaded
_library.tidemark_await_data.argtypes, _library.tidemark_await_data.restype = [ctypes.c_bool], ctypes.c_bool


class _Members:
    """The ranks of each group by its name, noted before its backend is made."""

    def __init__(self):
        self.by_group = {}

    def of_key(self, group, key):
        ranks = self.by_group.get(group) or list(range(world.ranks))
        return [ranks[int(member)] for member in key.split(":")] if ":" in key else ranks


members = _Members()


def _name_communicator(unique_id, full_key, found):
    ranks = members.of_key(found["group"], found["key"])
    _library.tidemark_name_communicator(unique_id, full_key.encode(), (ctypes.c_int * len(ranks))(*ranks), len(ranks))


def _bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def make_store_class(base):
    class AloneStore(base):
        """Has what this rank put in; whoever waits for others finds that they have come."""

        def __init__(self):
            super().__init__()
            self.values = {}

        def set(self, key, value):
            value = _bytes(value)
            self.values[key] = value
            if found := _NCCL_KEY.search(key):
                _name_communicator(value, key, found)

        def get(self, key):
            if key not in self.values:
                found = _NCCL_KEY.search(key)
                if found is None:
                    world.refuse(
                        f"rank {world.rank} reads {key!r} from the store of torch.distributed, which another rank would have written, and that rank is not running",
                        "the program's own communication through the store cannot be known from one rank alone",
                    )
                self.values[key] = hashlib.sha512(key.encode()).digest() * 2
                _name_communicator(self.values[key], key, found)
            return self.values[key]

        def add(self, key, value):
            """A counter that every rank counts up: all have."""
            total = int(self.values.get(key, b"0")) + value
            self.values[key] = str(total).encode()
            return total

        def append(self, key, value):
            self.values[key] = self.values.get(key, b"") + _bytes(value)

        def check(self, keys):
            return all(key in self.values for key in keys)

        def wait(self, keys, timeout=None):
            pass

        def compare_set(self, key, expected, desired):
            if self.values.get(key, b"") == _bytes(expected):
                self.values[key] = _bytes(desired)
            return self.values.get(key, _bytes(expected))

        def multi_get(self, keys):
            return [self.get(key) for key in keys]

        def multi_set(self, keys, values):
            for key, value in zip(keys, values):
                self.set(key, value)

        def delete_key(self, key):
            return self.values.pop(key, None) is not None

        def num_keys(self):
            return len(self.values)

        def has_extended_api(self):
            return True

        def set_timeout(self, timeout):
            pass

        def clone(self):
            """For a group that is split off: it has what this one has."""
            return self

    return AloneStore


def distributed_was_imported():
    """Called right after torch.distributed.distributed_c10d is."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d, rendezvous

    _leave_the_store_alone()
    kept = []  # the C++ side keeps only its half of a Python store

    def store(*args, **kwargs):
        kept.append(make_store_class(dist.Store)())
        return kept[-1]

    dist.TCPStore = rendezvous.TCPStore = rendezvous.FileStore = store
    _check_the_world(distributed_c10d, store)
    relied_on.enable("nccl_names", lambda: _note_members(distributed_c10d))
    _await_data(distributed_c10d)
    relied_on.enable("gloo_alone", lambda: alone_cpu.stand_in_for_gloo(distributed_c10d))


def _leave_the_store_alone():
    """Each second a thread of a process group asks the store whether another rank has raised an alarm (HeartbeatMonitor::runLoop in ProcessGroupNCCL.cpp).  None ever
    does here, and a group may outlive the interpreter (those of FSDP 2 do), in which the store is: then to ask it is to crash."""
    os.environ["TORCH_NCCL_COORD_CHECK_MILSEC"] = str(2**31 - 1)


def _check_the_world(c10d, store):
    real_init, real_rendezvous = c10d.init_process_group, c10d.rendezvous

    def check(rank, size):
        if size not in (1, world.ranks):
            world.refuse(f"the program makes a world of {size} ranks, and --gpus asks for {world.ranks}", f"write --gpus {size}", 2)
        if size == world.ranks and rank != world.rank:
            leaving.leave(0)  # a worker that the program itself has started, of a rank that was not asked for

    def rendezvous(*args, **kwargs):
        for made, rank, size in real_rendezvous(*args, **kwargs):
            check(rank, size)
            yield made, rank, size

    @functools.wraps(real_init)
    def init_process_group(*args, **kwargs):
        if kwargs.get("store") is not None:
            check(kwargs.get("rank", -1), kwargs.get("world_size", -1))
            kwargs["store"] = store()
        return real_init(*args, **kwargs)

    c10d.rendezvous, c10d.init_process_group = rendezvous, init_process_group


def _note_members(c10d):
    real_helper, real_color = c10d._new_process_group_helper, c10d._process_group_color

    @functools.wraps(real_helper)
    def helper(group_size, group_rank, global_ranks_in_group, backend, store, *args, **kwargs):
        name = kwargs.get("group_name") or (args[0] if args else "")
        members.by_group[str(name)] = list(global_ranks_in_group)
        return real_helper(group_size, group_rank, global_ranks_in_group, backend, store, *args, **kwargs)

    def announce_split(ranks):
        ranks = list(ranks)
        _library.tidemark_next_split(("split-" + "-".join(map(str, ranks))).encode(), (ctypes.c_int * len(ranks))(*ranks), len(ranks))

    def color(ranks):
        announce_split(ranks)
        return real_color(ranks)

    c10d._new_process_group_helper, c10d._process_group_color = helper, color
    if hasattr(c10d, "split_group"):
        real_split = c10d.split_group

        @functools.wraps(real_split)
        def split_group(parent_pg=None, split_ranks=None, *args, **kwargs):
            parent = c10d._get_default_group() if parent_pg is None else parent_pg
            place = c10d._world.pg_group_ranks.get(parent, {})  # {rank of the world: rank of the parent}, in which split_ranks are written
            in_world = {member: rank for rank, member in place.items()}
            mine = next((ranks for ranks in split_ranks or [] if place.get(world.rank) in ranks), None)
            if mine:
                announce_split(in_world[member] for member in sorted(mine))
            return real_split(parent_pg, split_ranks, *args, **kwargs)

        c10d.split_group = split_group


def _await_data(c10d):
    """Broadcasts that Python asks for may bring anything: a pickled object, a length.  (Receives always may: nccl.cpp.)"""
    for name in ("broadcast", "broadcast_object_list", "scatter", "scatter_object_list"):
        setattr(c10d, name, _awaiting(getattr(c10d, name)))


def _awaiting(real):
    @functools.wraps(real)
    def call(*args, **kwargs):
        before = _library.tidemark_await_data(True)
        try:
            return real(*args, **kwargs)
        finally:
            _library.tidemark_await_data(before)

    return call
