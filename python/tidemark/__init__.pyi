"""Made by tools/python_stub.py."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict

from typing_extensions import Unpack

from .api import ProgramFailed as ProgramFailed
from .api import run as run
from .checkpointing import apply as apply
from .errors import Error as Error
from .reports import Plan as Plan
from .reports import Progress as Progress
from .reports import Report as Report

class _PretrainedConfig(Protocol):
    def to_json_string(self) -> str: ...
    def to_diff_dict(self) -> dict[str, Any]: ...

class _Module(Protocol):
    def named_parameters(self) -> Any: ...

_Config = str | os.PathLike[str] | Mapping[str, Any] | _PretrainedConfig | _Module

class SpecOptions(TypedDict, total=False):
    generation_config: str | Mapping[str, Any] | None
    """generation_config.json, or its keys (default: beside config.json)"""
    head: str
    """What the model is trained for, such as causal_lm (auto: what config.json says)"""
    dtype: Literal['bf16', 'fp16', 'fp32']
    """Type of the weights"""
    attn: Literal['auto', 'sdpa', 'eager']
    """Implementation of attention (auto: sdpa where transformers has it for the model)"""
    experts_implementation: Literal['grouped_mm', 'batched_mm', 'eager']
    """Implementation of experts, of models that have them"""
    use_cache: Literal['auto', 'true', 'false', True, False]
    """Whether the forward pass fills a key/value cache (auto: as transformers does)"""
    freeze: Sequence[str]
    """Parameters that are not trained: those with one of these texts in their name (a,b or given twice); a whole feature encoder as freeze_feature_encoder() does it"""
    train_only: Sequence[str]
    """Parameters that are trained, all others not; freeze comes after it"""
    input_require_grads: bool
    """What embeddings give asks for gradients without checkpointing, too: enable_input_require_grads()"""
    load: Literal['to', 'adapted', 'wrapped', 'device_map', 'device']
    """How weights get onto the card: built on the CPU, then by Module.to, in front of adapters or with those that are made there (adapted), or by the wrapper for many GPUs (fsdp1, fsdp2, gemini); or by from_pretrained: with device_map="auto", on one GPU, or device_map={"": device}, which says where (device)"""
    batch: int
    """Samples per forward and backward pass, of each GPU, pipeline of GPUs, or GPUs that share tokens"""
    seq: int
    """Tokens per sample, those of images included; of raw audio, its samples (0: 2048, or what the model takes if that is less)"""
    target_seq: int
    """Tokens per label of an encoder-decoder model (0: as many as seq)"""
    generate: int
    """New tokens per sample by generate(); no training, and seq is the prompt"""
    audio_seconds: float
    """Seconds of audio per sample, at 16 kHz (0: 10 of raw audio)"""
    images: int
    """Images per sample"""
    image_size: str | int
    """Pixels: 336 or 1080x1920, height first (0: the model's own)"""
    image_tokens: int | None
    """Tokens per image, where they are known better than from its size"""
    padding: bool
    """Batches hold padding, so the attention mask is built"""
    moe_routing: str
    """How tokens spread over experts: balanced or skewed:X"""
    labels: bool
    """The model gets labels and computes the loss itself"""
    method: Literal['none', 'full', 'lora', 'qlora', 'dora', 'freeze-vision', 'projector', 'trl-full', 'trl-lora', 'trl-qlora', 'trl-dora', 'transformers-full', 'transformers-lora', 'transformers-qlora', 'transformers-dora', None]
    """A method of fine-tuning and its trainer: defaults of the other fields"""
    loop: Literal['plain', 'trainer', 'sft_trainer', 'dpo_trainer', 'kto_trainer', 'reward_trainer', 'grpo_trainer']
    """Loop: plain PyTorch, transformers' Trainer, or a trainer of TRL"""
    autocast: Literal['none', 'bf16', 'fp16', None]
    """torch.autocast around forward and loss"""
    grad_scaler: bool
    """torch.amp.GradScaler scales the loss"""
    grad_accumulation: int
    """Forward and backward passes per optimizer step"""
    max_grad_norm: float | None
    """Clip gradients to this norm (default: no clipping)"""
    zero_grad: Literal['after_step', 'before_forward', 'before_backward']
    """Where the loop calls zero_grad"""
    set_to_none: bool
    """zero_grad frees gradients instead of filling them with zeros"""
    checkpointing: Literal['none', 'non_reentrant', 'reentrant', None] | bool
    """Gradient checkpointing of the model's layers"""
    checkpoint_every: int
    """Checkpoint each n-th layer alone"""
    checkpoint_layers: Sequence[str | int]
    """Checkpoint these layers alone: numbers and ranges, such as 0-3,7, counted over the whole model"""
    checkpoint_save: Sequence[str]
    """Operators of torch whose results a checkpointed layer keeps, without namespace and overload, such as mm,_scaled_dot_product_flash_attention (create_selective_checkpoint_contexts with MUST_SAVE)"""
    checkpoint_save_layers: Sequence[str | int]
    """Checkpointed layers that keep these results, as checkpoint_layers says them (default: all)"""
    steps: int
    """Optimizer steps; states appear in the first, and from the third on nothing is new"""
    optimizer: Literal['adamw', 'adam', 'sgd', 'adafactor', 'rmsprop', 'adagrad', 'adamw_8bit', 'paged_adamw_8bit', 'paged_adamw_32bit', 'lion_8bit', 'lion_32bit', 'paged_lion_8bit', 'paged_lion_32bit', 'transformers_adafactor']
    """Optimizer"""
    optimizer_impl: Literal['auto', 'foreach', 'fused', 'loop']
    """Its implementation (auto: as torch chooses)"""
    weight_decay: float | None
    """Weight decay (default: the optimizer's own)"""
    momentum: float
    """Of sgd and rmsprop"""
    amsgrad: bool
    """Of adam and adamw"""
    nesterov: bool
    """Of sgd, with momentum"""
    centered: bool
    """Of rmsprop"""
    maximize: bool
    """Climb instead of descend"""
    grpo: Mapping[str, Any] | None
    """Options of GRPOTrainer; {} for its defaults"""
    lora: Mapping[str, Any] | None | bool
    """Adapters of PEFT on a frozen model; {} for its defaults"""
    quantization: Mapping[str, Any] | None | Literal['nf4', 'fp4', 'int8', False]
    """Linear modules in 4 or 8 bits, by bitsandbytes; {} for 4 bits with the defaults of BitsAndBytesConfig"""
    gpus: int
    """GPUs that train together"""
    parallel: Literal['none', 'ddp', 'zero1', 'zero2', 'zero3', 'fsdp1', 'fsdp2', 'ep', 'gemini', None]
    """How they share the work"""
    rank: int
    """The one whose memory is meant"""
    gpus_per_node: int
    """GPUs of one node (0: all of them)"""
    link: Literal['auto', 'nvlink', 'pcie']
    """What joins the GPUs of a node, for NCCL's buffers (auto: what the card has)"""
    ddp: Mapping[str, Any] | None
    """DistributedDataParallel's options; {} for its defaults"""
    zero: Mapping[str, Any] | None
    """DeepSpeed's options for ZeRO; {} for its defaults"""
    tp: Mapping[str, Any] | None
    """Tensor parallelism by torch's parallelize_module"""
    cp: Mapping[str, Any] | None
    """Context parallelism: ring attention by torch's context_parallel"""
    ep: Mapping[str, Any] | None
    """Expert parallelism of transformers; {} for all GPUs"""
    fsdp1: Mapping[str, Any] | None
    """FullyShardedDataParallel's options; {} for its defaults"""
    fsdp2: Mapping[str, Any] | None
    """fully_shard's options; {} for its defaults"""
    gemini: Mapping[str, Any] | None
    """GeminiPlugin's options; {} for its defaults"""
    pp: Mapping[str, Any] | None
    """Layers in stages by torch.distributed.pipelining"""
    gpu: str
    """The card: a name (see `tidemark gpus`) or a file that describes one"""
    memory: str
    """Another memory size for the card, such as 400GB or 80GiB"""
    windows: bool
    """A Windows driver: beyond the card it goes on in host memory"""
    allocator: str
    """Settings of PyTorch's allocator (PYTORCH_CUDA_ALLOC_CONF)"""
    torch: str
    """Version of PyTorch to follow (default: the active environment's, else the newest that is known)"""
    transformers: str
    """Version of transformers to follow (default: likewise)"""

class PlanOptions(SpecOptions, total=False):
    goal: str
    """What is best: fastest (when nothing is said), least_memory, smallest_change, or pareto for every trade"""
    largest: str
    """Instead: the largest batch, seq or images that fits"""
    checkpointing_under: str
    """Instead: the layers to checkpoint, and the operators whose results to keep in them, that run least again within this peak, such as 24GiB, or on the card"""
    cheapest: Mapping[str, Any]
    """Instead: which of these cards trains at the least cost, such as l40s or h100-80gbx8, and what one GPU costs for an hour"""
    nodes: int
    """Nodes of as many GPUs as gpu says, such as h100-80gbx8"""
    samples: int
    """Samples per optimizer step, over all GPUs (0: what the spec says)"""
    fix: Sequence[str]
    """Decisions that stay as the spec says"""
    allow: Sequence[str]
    """Decisions that change what is learned, and their values: lora=8|64"""
    trainers: Sequence[str]
    """Trainers that the answer is for, such as trl: each configuration is what they make of it"""
    margin: str
    """A quantile of measured residuals to keep free, such as p90"""
    answers: int
    """How many are given, the best first"""

def predict(config: _Config, *, inputs: Mapping[str, Any] | Callable[..., Mapping[str, Any]] | None = None, all_ranks: bool = False, margin: str | None = None, offline: bool = False, **options: Unpack[SpecOptions]) -> Report: ...
def plan(config: _Config, *, inputs: Mapping[str, Any] | Callable[..., Mapping[str, Any]] | None = None, offline: bool = False, ray: bool = False, progress: Callable[[Progress], object] | None = None, **options: Unpack[PlanOptions]) -> Plan: ...
def options() -> dict[str, Any]: ...
def gpus() -> list[dict[str, Any]]: ...
def models(bundled: bool = False) -> list[dict[str, Any]]: ...

__version__: str
