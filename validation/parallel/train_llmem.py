"""LLMem's own training of a model by its configuration: dp_real.py and tp_real.py of taehokim20/LLMem, on its changed Colossal-AI 0.3.0 and the
transformers 4.29.2 that it pins, without tokenizer, weights' files and NVML; three steps of full batches.

    tidemark run --gpu v100-16gb --gpus 4 -- python train_llmem.py CONFIG.json --batch 1 --tp 2

validation/parallel/README.md says how the two packages are put together."""

import argparse
import json
import os
import warnings

warnings.simplefilter("ignore")

import torch
import transformers
from no_kernels import NoKernels
from transformers.modeling_utils import no_init_weights


def without_values():
    """Values come from checkpoints there; the host need not draw others first."""
    for kind in (torch.nn.Linear, torch.nn.Embedding, torch.nn.LayerNorm, torch.nn.Conv1d):
        kind.reset_parameters = lambda self: None


def made(path):
    """What from_pretrained(...).to("cuda") leaves on the card."""
    with open(path) as file:
        config = transformers.AutoConfig.for_model(**json.load(file))
    with no_init_weights():
        model = transformers.AutoModelForCausalLM.from_config(config)
    model.tie_weights()
    model.to("cuda")
    model.half()
    torch.cuda.empty_cache()
    model.gradient_checkpointing_enable()
    return model


def sharded(path, degree):
    """tp_real.py: every nn.Linear and nn.Embedding is split over its last dimension (`ColoLinear`, `ColoEmbedding`, target_mode row and col)."""
    from colossalai.nn.parallel.layers import init_colo_module
    from colossalai.tensor import ComputePattern, ComputeSpec, ProcessGroup
    from colossalai.utils import get_current_device
    from colossalai.zero import ColoInitContext

    with open(path) as file:  # ColoInitContext wants classes that exist before it
        transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING[type(transformers.AutoConfig.for_model(**json.load(file)))]
    group = ProcessGroup(tp_degree=degree)
    with ColoInitContext(device=get_current_device()):
        model = made(path)
    init_colo_module(model, ComputeSpec(ComputePattern.TP1D), pg=group, recursive=True)
    torch.cuda.empty_cache()
    return model


def boosted(model):
    import colossalai.nn.optimizer.cpu_adam as cpu_adam
    import colossalai.nn.optimizer.hybrid_adam as hybrid_adam
    from colossalai.booster import Booster
    from colossalai.booster.plugin import GeminiPlugin
    from colossalai.utils import get_current_device

    cpu_adam.CPUAdamBuilder = hybrid_adam.FusedOptimBuilder = NoKernels
    plugin = GeminiPlugin(device=get_current_device(), placement_policy="cuda", precision="fp16", pin_memory=False, strict_ddp_mode=False, initial_scale=2**5)
    optimizer = hybrid_adam.HybridAdam(model.parameters(), lr=2e-5, weight_decay=0.0)
    return Booster(plugin=plugin), optimizer


def launched(tp):
    import colossalai
    from colossalai.logging import disable_existing_loggers

    for name, value in {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}.items():
        os.environ.setdefault(name, value)  # as torchrun says on one GPU
    # tp_real.py says data=1 for 2DP+2TP as well; its ProcessGroup(tp_degree=2) of four ranks makes two of data.
    colossalai.launch_from_torch(config={} if tp == 0 else {"parallel": {"data": 1, "pipeline": 1, "tensor": {"size": tp, "mode": "1d"}}})
    disable_existing_loggers()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seq", type=int, default=512)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--tp", type=int, default=0, help="tp_size of tp_real.py; 0: dp_real.py")
    options = parser.parse_args()
    without_values()
    launched(options.tp)
    model = sharded(options.config, options.tp) if options.tp else made(options.config)
    tokens = torch.full((options.batch, options.seq), 5)
    rows = {"input_ids": tokens, "labels": tokens.clone(), "attention_mask": torch.ones_like(tokens, dtype=torch.bool)}
    longest = {name: row.to("cuda") for name, row in rows.items()}  # `test_long_input`, kept to the end
    booster, optimizer = boosted(model)
    model, optimizer, _, _, _ = booster.boost(model, optimizer)
    torch.cuda.empty_cache()
    model.train()
    for step in range(options.steps):
        batch = {name: row.to("cuda") for name, row in rows.items()}
        model.zero_grad()
        outputs = model(use_cache=False, **batch)
        loss = outputs["loss"]
        outputs = 0
        booster.backward(loss, optimizer)
        if step == 0:
            torch.cuda.empty_cache()
        optimizer.step()
        optimizer.zero_grad()
    del longest


main()
