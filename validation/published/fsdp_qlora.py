"""One rank of fsdp_qlora's benchmarks of February and March 2024: LoRA, or LoRA over a model in 4 bit, under FSDP on two cards, on samples of one length.

    torchrun --nproc-per-node 2 fsdp_qlora.py MODEL lora|qlora BATCH LENGTH [--offload] [--ddp]

What train.py of AnswerDotAI/fsdp_qlora does at 3afe102 (the first commit that logs `reserved_after_model_wrap`, which benchmarks_03_2024.md quotes) on its rank 0 with
the options of the document's template command, in our words.  What differs: no weights are read and tokens are made up, and weights are quantized one after another
instead of by several threads (the cache is emptied afterwards there, too).
"""

import argparse
import functools
import os

import torch
import torch.distributed as dist
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, apply_activation_checkpointing, checkpoint_wrapper
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel, ShardingStrategy
from torch.distributed.fsdp.wrap import _or_policy, lambda_auto_wrap_policy, transformer_auto_wrap_policy

# bitsandbytes 0.43 has libraries for CUDA up to 12.3 and looks for one of PyTorch's own version; on a virtual GPU their kernels do nothing.
os.environ.setdefault("BNB_CUDA_VERSION", "123")

from accelerate import init_empty_weights
from bitsandbytes.nn import Linear4bit, Params4bit
from peft import LoraConfig, TaskType, get_peft_model
from transformers import AutoModelForCausalLM, LlamaConfig, MistralConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer
from transformers.models.mistral.modeling_mistral import MistralDecoderLayer

HALF = torch.bfloat16
TARGETS = ["k_proj", "q_proj", "v_proj", "up_proj", "down_proj", "gate_proj"]
MODELS = {  # the config.json of each
    "Llama-2-7b": lambda: LlamaConfig(max_position_embeddings=4096, rms_norm_eps=1e-5),
    "Llama-2-70b": lambda: LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64, num_key_value_heads=8, max_position_embeddings=4096, rms_norm_eps=1e-5),
    "Yi-34B": lambda: LlamaConfig(vocab_size=64000, hidden_size=7168, intermediate_size=20480, num_hidden_layers=60, num_attention_heads=56, num_key_value_heads=8, max_position_embeddings=4096, rms_norm_eps=1e-5, rope_theta=5000000.0),
    "Mistral-7B-v0.2": lambda: MistralConfig(max_position_embeddings=32768, rms_norm_eps=1e-5, rope_theta=1000000.0, sliding_window=None),
}
SAMPLES = 1024  # of the dummy data set, for both ranks


def configured(name):
    config = MODELS[name]()
    config.use_cache = False
    config._attn_implementation = "sdpa"
    return config


def in_half_precision(name):
    """from_pretrained in bf16 on the host; its buffers become bf16, too."""
    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(configured(name), torch_dtype=HALF)
    return model.to_empty(device="cpu").to(HALF)


def in_four_bit(name):
    """Linear layers but for the head are quantized on the card, each alone, and stored on the host as bf16; what quantization keeps beside them stays on the card."""
    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(configured(name))
        for parent in list(model.model.modules()):
            for child, module in list(parent.named_children()):
                if isinstance(module, torch.nn.Linear):
                    setattr(parent, child, Linear4bit(module.in_features, module.out_features, False, compute_dtype=HALF, quant_type="nf4", quant_storage=HALF))
    model.is_loaded_in_4bit = True
    for module in model.modules():
        for key, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, key, quantized(parameter) if isinstance(parameter, Params4bit) else torch.nn.Parameter(torch.empty(parameter.shape, dtype=HALF)))
        if hasattr(module, "inv_freq"):  # checkpoints of that time have it
            module.inv_freq = module.inv_freq.to(HALF)
    torch.cuda.empty_cache()
    return model


def quantized(parameter):
    value = torch.empty(parameter.shape, dtype=HALF).to("cuda")
    value = Params4bit(value.data, **parameter.__dict__).cuda("cuda")
    return Params4bit(value.data.to("cpu"), **value.__dict__)


def wrapping():
    def is_trained_leaf(module):
        return not list(module.named_children()) and getattr(module, "weight", None) is not None and module.weight.requires_grad

    layers = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls=(LlamaDecoderLayer, MistralDecoderLayer))
    return functools.partial(_or_policy, policies=[functools.partial(lambda_auto_wrap_policy, lambda_fn=is_trained_leaf), layers])


def sharded(model, offload, ddp):
    model = FullyShardedDataParallel(
        model,
        sharding_strategy=ShardingStrategy.NO_SHARD if ddp else ShardingStrategy.FULL_SHARD,
        auto_wrap_policy=wrapping(),
        use_orig_params=False,
        cpu_offload=CPUOffload(offload_params=True) if offload else None,
        limit_all_gathers=True,
        device_id=torch.cuda.current_device(),
        sync_module_states=True,
    )
    model.enable_input_require_grads()
    apply_activation_checkpointing(model, checkpoint_wrapper_fn=functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.REENTRANT), check_fn=lambda module: isinstance(module, (LlamaDecoderLayer, MistralDecoderLayer)))
    return model


def train(model, vocabulary, batch, length):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, betas=(0.9, 0.95), eps=1e-5, weight_decay=0.1)
    torch.cuda.reset_peak_memory_stats()
    model.train()
    losses = torch.zeros(2).to("cuda")
    for _ in range(SAMPLES // dist.get_world_size() // batch):
        tokens = torch.randint(0, vocabulary, (batch, length))
        output = model(tokens.to("cuda"), labels=tokens.to("cuda"), attention_mask=None)
        loss = output.loss
        loss = loss / 1
        loss.backward()
        losses[0] += loss.item() * batch
        losses[1] += batch
        optimizer.step()
        optimizer.zero_grad()
        output = None
        loss = None
        dist.all_reduce(losses, op=dist.ReduceOp.SUM)
        losses = torch.zeros(2).to("cuda")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("method", choices=["lora", "qlora"])
    parser.add_argument("batch", type=int)
    parser.add_argument("length", type=int)
    parser.add_argument("--offload", action="store_true")
    parser.add_argument("--ddp", action="store_true", help="FSDP's NO_SHARD")
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = (in_half_precision if arguments.method == "lora" else in_four_bit)(arguments.model)
    vocabulary = model.config.vocab_size
    model = get_peft_model(model, LoraConfig(task_type=TaskType.CAUSAL_LM, inference_mode=False, r=64, lora_alpha=16, lora_dropout=0.1, target_modules=TARGETS))
    model.print_trainable_parameters()
    model = sharded(model, arguments.offload, arguments.ddp)
    dist.barrier()
    train(model, vocabulary, arguments.batch, arguments.length)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
