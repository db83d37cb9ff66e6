#include "plan/trainer_way.h"

namespace tidemark::plan {
namespace {

/// Trainer._run_epoch: passes in front of a step's last do not reduce gradients.
bool skips_reductions(const Spec& spec) { return spec.grad_accumulation > 1; }

void with_ddp(Spec& spec) {
  DdpSpec ddp = spec.ddp.value_or(DdpSpec{});
  ddp.no_sync = skips_reductions(spec);
  spec.ddp = ddp;
}

/// accelerate (1.15.0): accelerator.py, prepare_model has autocast beside the policy; utils/dataclasses.py,
/// set_mixed_precision
void with_fsdp1(Spec& spec) {
  Fsdp1Spec fsdp = spec.fsdp1.value_or(Fsdp1Spec{});
  if (spec.autocast == Autocast::bf16) fsdp.param_dtype = fsdp.reduce_dtype = PolicyDtype::bf16;
  spec.fsdp1 = fsdp;
  spec.load = Load::wrapped;
}

/// accelerate (1.15.0): accelerator.py, _prepare_fsdp2 has the policy and no autocast; no_sync
void with_fsdp2(Spec& spec) {
  Fsdp2Spec fsdp = spec.fsdp2.value_or(Fsdp2Spec{});
  if (spec.autocast == Autocast::bf16) {
    fsdp.param_dtype = fsdp.reduce_dtype = PolicyDtype::bf16;
    spec.autocast = Autocast::none;
  }
  if (fsdp.reshard_after_forward == "auto") fsdp.reshard_after_forward = "true";
  fsdp.requires_gradient_sync = !skips_reductions(spec);
  spec.fsdp2 = fsdp;
  spec.load = Load::wrapped;
}

/// transformers (5.17.0): integrations/deepspeed.py, trainer_config_process.  DeepSpeed's weights are bf16, its masters
/// fp32 (0.19.8: runtime/engine.py, _configure_distributed_model).
void with_deepspeed(Spec& spec) {
  ZeroSpec without_clipping;
  without_clipping.gradient_clipping = 0;
  ZeroSpec zero = spec.zero.value_or(without_clipping);
  if (spec.max_grad_norm) zero.gradient_clipping = *spec.max_grad_norm;
  spec.max_grad_norm.reset();
  // TrainingArguments know the file before there is a model: modeling_utils.py, get_init_context
  if (spec.parallel == Parallel::zero3 && !spec.quantization) zero.init = ZeroInit::from_pretrained;
  spec.zero = zero;
  if (spec.autocast != Autocast::bf16) return;
  spec.autocast = Autocast::none;
  spec.dtype = WeightDtype::bf16;
  if (spec.lora) spec.lora->adapter_dtype = AdapterDtype::automatic;
}

}  // namespace

Spec as_the_trainer_has_it(Spec spec) {
  if (spec.load == Load::device_map && !is_alone(spec)) spec.load = Load::to;  // it was of one GPU
  if ((spec.load == Load::device || spec.load == Load::adapted) && !runs_whole_model(spec)) spec.load = Load::to;
  if (spec.load == Load::adapted && (!spec.lora || spec.quantization)) spec.load = Load::to;
  if (spec.loop == LoopKind::plain) return spec;
  switch (spec.parallel) {
    case Parallel::ddp: with_ddp(spec); break;
    case Parallel::fsdp1: with_fsdp1(spec); break;
    case Parallel::fsdp2: with_fsdp2(spec); break;
    case Parallel::zero1:
    case Parallel::zero2:
    case Parallel::zero3: with_deepspeed(spec); break;
    case Parallel::none:
    case Parallel::ep:
    case Parallel::gemini: break;
  }
  return spec;
}

}  // namespace tidemark::plan
