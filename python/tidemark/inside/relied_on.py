"""Every name of other people's that Tidemark relies on and that they do not promise: the releases in which it was seen to hold, and what
a run does where it is missing.  Checked when the library is imported; a missing one costs its feature, never the run.
"""

import dataclasses
import sys

from . import losses


@dataclasses.dataclass(frozen=True)
class Feature:
    names: tuple  # "module:attribute.attribute"; the modules are imported by then
    holds: str  # releases
    without: str  # what a run does without it


FEATURES = {
    "cuda_begins": Feature(("torch.cuda:_lazy_call",), "torch 2.6 to 2.15", "the allocator is not watched: peaks are those of PyTorch's own counters"),
    "backward_phase": Feature(("torch.autograd.graph:_engine_run_backward", "torch.autograd:_engine_run_backward"), "torch 2.6 to 2.15", "what backward allocates counts as forward's"),
    "higher_order_operators": Feature(
        ("torch._C:_dispatch_tls_local_include_set", "torch._ops:_HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS", "torch._ops:_higher_order_ops"),
        "torch 2.6 to 2.15",
        "compiled graphs with checkpoints or flexible attention in them may not run",
    ),
    "integers_in_threads": Feature(("threading:Thread._bootstrap_inner",), "Python 3.9 to 3.14", "integers are zeros on Python threads of the program's own"),
    "optimizer_steps": Feature(("torch.optim.optimizer:register_optimizer_step_pre_hook", "torch.optim.optimizer:register_optimizer_step_post_hook"), "torch 2.6 to 2.15", "steps are not counted, and the program runs to its own end"),
    "batches_drawn": Feature(("torch.utils.data:DataLoader.__iter__",), "torch 2.6 to 2.15", "--data does nothing: the program's batches come as they are"),
    "dead_workers": Feature(
        ("torch.utils.data._utils.signal_handling:_set_SIGCHLD_handler",),
        "torch 2.6 to 2.15",
        "a data loader's worker that dies while an error is printed adds a second error",
    ),
    "snapshot": Feature(("torch.cuda.memory:_snapshot",), "torch 2.6 to 2.15", "no snapshot is written"),
    "compile_workers": Feature(("torch._inductor.async_compile:shutdown_compile_workers",), "torch 2.6 to 2.15", "temporary folders of Inductor's compile workers may stay behind"),
    "graphs_compiled": Feature(("torch._dynamo.callback:callback_handler.register_start_callback", "torch._dynamo.callback:callback_handler.register_end_callback"), "torch 2.6 to 2.15", "what compiling adds to the peak is not told apart"),
    "kernels_tuned": Feature(
        ("torch._inductor.runtime.triton_heuristics:CachingAutotuner.autotune_to_one_config", "torch._inductor.runtime.triton_heuristics:CachingAutotuner.coordinate_descent_tuning"),
        "torch 2.6 to 2.15",
        "what the tuning of kernels adds to the peak is not told apart",
    ),
    "dtensor_parts": Feature(("torch.distributed.tensor:DTensor._local_tensor",), "torch 2.6 to 2.15", "parameters and gradients that are spread over ranks are not told from activations"),
    "nccl_names": Feature(
        ("torch.distributed.distributed_c10d:_new_process_group_helper", "torch.distributed.distributed_c10d:_process_group_color", "torch.distributed.distributed_c10d:_world", "torch.distributed.distributed_c10d:_get_default_group"),
        "torch 2.6 to 2.15",
        "communicators have no members, so what they take of the device is not known",
    ),
    "gloo_alone": Feature(
        ("torch._C._distributed_c10d:FakeProcessGroup", "torch.distributed.distributed_c10d:ProcessGroupGloo", "torch.distributed.distributed_c10d:_get_process_group_name"),
        "torch 2.6 to 2.15",
        "collectives on the host wait for ranks that are not running",
    ),
    "deepspeed_phases": Feature(("deepspeed.runtime.engine:DeepSpeedEngine.backward", "deepspeed.runtime.engine:DeepSpeedEngine.step"), "DeepSpeed 0.16 to 0.19", "backward and steps are those of the optimizers that DeepSpeed calls"),
    "deepspeed_buckets": Feature(("deepspeed.runtime.zero.stage_1_and_2:DeepSpeedZeroOptimizer.setup_buckets",), "DeepSpeed 0.18 to 0.19", "ZeRO's buckets are not told from activations"),
    "generated_text": Feature(("transformers.generation.utils:GenerationMixin.generate",), "transformers 4.45 to 5.23", "text that is generated may end at its first token"),
    "vllm_memory": Feature(
        tuple(f"vllm.v1.worker.gpu_worker:Worker.{name}" for name in ("init_device", "determine_available_memory", "initialize_from_config", "compile_or_warm_up_model")),
        "vLLM 0.33 to 0.33",
        "the terms of vLLM's memory are missing",
    ),
    "vllm_engine": Feature(("vllm.v1.engine.core:EngineCore.__init__",), "vLLM 0.33 to 0.33", "the size of vLLM's cache in tokens is missing"),
    "vllm_processes": Feature(("vllm.v1.engine.utils:shutdown",), "vLLM 0.33 to 0.33", "an engine in a process may be ended before it has reported"),
    "server_ready": Feature(("uvicorn.server:Server.startup",), "uvicorn 0.54 to 0.54", "a server does not end when it is ready"),
    "stages_of_trl": Feature(("trl.extras.profiling:ProfilingContext.__enter__", "trl.extras.profiling:ProfilingContext.__exit__"), "TRL 1.16 to 1.16", "rollouts and rewards are no stages of the report"),
    "log_probabilities_of_trl": Feature(("trl.trainer.grpo_trainer:GRPOTrainer._get_per_token_logps_and_entropies",), "TRL 1.16 to 1.16", "log-probabilities are no stages of the report"),
    "transformers_fake_weights": Feature(
        ("transformers.modeling_utils:PreTrainedModel._from_config", "transformers.modeling_utils:PreTrainedModel.from_pretrained"), "transformers 4.45 to 5.23", "--fake-weights does nothing for transformers: weights are loaded as they are"
    ),
    "diffusers_fake_weights": Feature(
        ("diffusers.models.modeling_utils:ModelMixin.from_pretrained", "diffusers.configuration_utils:ConfigMixin.load_config", "diffusers.configuration_utils:ConfigMixin.from_config"),
        "diffusers 0.30 to 0.42",
        "--fake-weights does nothing for diffusers: weights are loaded as they are",
    ),
}


def enable(name, start):
    """Runs `start()`, which relies on the names of a feature.  Returns whether it did so to the end."""
    feature = FEATURES[name]
    missing = [one for one in feature.names if not exists(one)]
    if missing:
        losses.note(feature.without, f"{_release_of(missing[0])} has no {missing[0].replace(':', '.')}, which {feature.holds} have")
        return False
    try:
        start()
        return True
    except Exception as error:
        losses.note(feature.without, losses.described(error))
        return False


def holds(name):
    """The same for code that asks when it comes there."""
    return enable(name, lambda: None)


def exists(name):
    module, _, attributes = name.partition(":")
    found = sys.modules.get(module)
    for attribute in attributes.split("."):
        found = getattr(found, attribute, None)
    return found is not None


def _release_of(name):
    library = name.partition(":")[0].partition(".")[0]
    version = getattr(sys.modules.get(library), "__version__", None)
    return f"{library} {version}" if version else f"Python {sys.version.split()[0]}"
