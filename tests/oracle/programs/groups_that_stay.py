"""A process group that outlives the interpreter, as FSDP 2 leaves it: its threads still run while the libraries end, for seconds here."""

import ctypes
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
dist.all_reduce(torch.ones(4, device="cuda"))
ctypes.pythonapi.Py_IncRef(ctypes.py_object(dist.group.WORLD))
libc = ctypes.CDLL(None)
libc.__cxa_atexit(libc.sleep, ctypes.c_void_p(3), None)
