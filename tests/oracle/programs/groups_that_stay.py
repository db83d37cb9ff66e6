"""A process group that outlives the interpreter, as FSDP 2 leaves it: its threads still run while the libraries end, for seconds here."""

import ctypes
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
numbers = torch.arange(4, device="cuda")
dist.all_reduce(numbers)
assert numbers.tolist() == [0, 2, 4, 6]  # the silent rank has contributed the same integers
ctypes.pythonapi.Py_IncRef(ctypes.py_object(dist.group.WORLD))
libc = ctypes.CDLL(None)
libc.__cxa_atexit(libc.sleep, ctypes.c_void_p(3), None)
