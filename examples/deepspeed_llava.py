"""LLaVA-1.5-7B under DeepSpeed: ZeRO stages 0 to 3, with or without offload to the host.

tidemark run --gpu h100-80gb --gpus 8 -- deepspeed --num_gpus 8 examples/deepspeed_llava.py --stage full --zero 2 --batch 16 --sequence 1024
"""

import argparse

import deepspeed
import torch
from llava_pretrain import CONFIG, batches
from transformers import LlavaConfig, LlavaForConditionalGeneration

try:
    from transformers.initialization import no_init_weights
except ImportError:  # before transformers 5
    from transformers.modeling_utils import no_init_weights

TRAINED = {  # LLaVA's two stages, and everything
    "pretrain": lambda name: "multi_modal_projector" in name,
    "finetune": lambda name: "vision_tower" not in name,
    "full": lambda name: True,
}


def settings(arguments):
    zero = {"stage": arguments.zero}
    if arguments.offload:
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": True}
        if arguments.zero == 3:
            zero["offload_param"] = {"device": "cpu", "pin_memory": True}
    return {
        "train_micro_batch_size_per_gpu": arguments.batch,
        "gradient_accumulation_steps": arguments.accumulation,
        "bf16": {"enabled": True},
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,  # torch.optim.AdamW, which needs no compiler, also where the states are on the host
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stage", choices=TRAINED, default="full")
    parser.add_argument("--zero", type=int, choices=range(4), default=2)
    parser.add_argument("--offload", action="store_true")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--vision-layers", type=int, default=24)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--local_rank", type=int, default=0)  # the deepspeed launcher passes it
    arguments = parser.parse_args()

    deepspeed.init_distributed()
    config = LlavaConfig(**CONFIG)
    config.text_config.num_hidden_layers, config.vision_config.num_hidden_layers = arguments.layers, arguments.vision_layers
    torch.set_default_dtype(torch.bfloat16)
    with no_init_weights():
        model = LlavaForConditionalGeneration(config)
    torch.set_default_dtype(torch.float32)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(TRAINED[arguments.stage](name))
    if arguments.checkpointing:
        model.config.use_cache = False
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    engine, _, _, _ = deepspeed.initialize(model=model.train(), optimizer=torch.optim.AdamW(trained, lr=2e-5), config=settings(arguments))

    for step, batch in zip(range(arguments.steps * arguments.accumulation), batches(arguments.batch, arguments.sequence)):
        loss = engine(**{key: value.to(engine.device) for key, value in batch.items()}).loss
        engine.backward(loss)
        engine.step()
        if torch.distributed.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
