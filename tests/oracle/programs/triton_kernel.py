"""A user's own Triton kernels, one of them autotuned: compiled for the card, launched, and nothing computed."""

import time

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) + tl.load(y + offsets, mask=offsets < n), mask=offsets < n)


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (128, 512) for w in (2, 4)], key=["n"])
@triton.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) * 2, mask=offsets < n)


n = 1 << 20
x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
out = torch.empty_like(x)
compiled = add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
start = time.time()
scale_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
print("target", compiled.metadata.target.arch, "spills", compiled.n_spills, "chosen", scale_kernel.best_config, "seconds", round(time.time() - start, 1))
print("properties", triton.runtime.driver.active.utils.get_device_properties(0))
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
