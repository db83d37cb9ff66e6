"""Colossal-AI's Gemini for record_steps.py: GeminiPlugin's configure() without its import, which needs an older transformers (0.5.0 at 4f9953b:
booster/plugin/gemini_plugin.py).  PYTHONPATH says where Colossal-AI is, and what else it imports:

    git clone https://github.com/hpcaitech/ColossalAI && git -C ColossalAI checkout 4f9953b
    pip install --no-deps --target more fabric invoke paramiko decorator deprecated bcrypt cryptography pynacl wrapt cffi pycparser contexttimer galore_torch tensorly
    PYTHONPATH=ColossalAI:more python tools/trace/record_steps.py …"""

import gc
import os
import pathlib
import sys

DTYPES = {"bf16": "bfloat16", "fp16": "float16"}


def boosted(model, spec):
    """booster.boost(model, HybridAdam(…)) with GeminiPlugin's defaults."""
    import torch

    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "validation" / "parallel"))
    import colossalai.amp.naive_amp.mixed_precision_mixin.fp16 as fp16
    import colossalai.nn.optimizer.cpu_adam as cpu_adam
    import colossalai.nn.optimizer.hybrid_adam as hybrid_adam
    from colossalai.zero.gemini.gemini_ddp import GeminiDDP
    from colossalai.zero.gemini.gemini_optimizer import GeminiOptimizer
    from no_kernels import NoKernels

    fp16.FP16MixedPrecisionMixin.loss_scale = 2.0**16  # of a float on a virtual GPU nothing is known, and this one is divided by
    asked = dict(spec.get("gemini", {}))
    cpu_adam.CPUAdamLoader = hybrid_adam.FusedOptimizerLoader = NoKernels
    decay = {"weight_decay": spec["weight_decay"]} if "weight_decay" in spec else {}
    optimizer = hybrid_adam.HybridAdam(model.parameters(), adamw_mode=spec.get("optimizer", "adamw") == "adamw", **decay)
    precision = getattr(torch, DTYPES[asked.pop("precision", "fp16")])
    device = torch.device("cuda", torch.cuda.current_device())
    model = GeminiDDP(model, **{"chunk_init_device": device, "pin_memory": asked.get("enable_async_reduce", True), **asked}, mixed_precision=precision)
    optimizer = GeminiOptimizer(optimizer, model, initial_scale=2**16, max_norm=spec.get("max_grad_norm", 0.0))
    return model, optimizer


def trained_by_gemini(spec, build, rows):
    """The loop of Colossal-AI's documentation: booster.backward(loss, optimizer) is optimizer.backward(loss)."""
    import torch

    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    torch.distributed.init_process_group("nccl", rank=int(os.environ.get("RANK", 0)), world_size=spec["gpus"], store=None if "RANK" in os.environ else torch.distributed.HashStore())
    model, optimizer = boosted(build(spec), spec)
    for _ in range(spec.get("steps", 3)):
        for _ in range(spec.get("grad_accumulation", 1)):
            batch = {name: row.to("cuda") for name, row in rows.items()}
            out = model(**batch)
            loss = out.loss
            del out
            optimizer.backward(loss)
            gc.collect()  # a log of GeminiDDP's asks inspect.stack(), whose frames hold each other, and the loss that was scaled
            del loss, batch
        optimizer.step()
        optimizer.zero_grad()


def version():
    import colossalai

    return (pathlib.Path(colossalai.__file__).resolve().parents[1] / "version.txt").read_text().strip()
