#include "estimate/strategies.h"
#include "parallel/zero.h"

namespace tidemark {
namespace {

/// What DeepSpeed does otherwise, or what is not known of it.
void check_zero(const Spec& spec, const ZeroSpec& asked) {
  if (spec.dtype != WeightDtype::bf16) refuse("dtype", "ZeRO is known with bf16 weights alone", "set dtype to bf16");
  if (spec.autocast != Autocast::none) refuse("autocast", "ZeRO is known without autocast");
  if (spec.grad_scaler) refuse("grad_scaler", "DeepSpeed scales the loss itself");
  if (spec.max_grad_norm) refuse("max_grad_norm", "DeepSpeed clips gradients itself", "set zero.gradient_clipping");
  if (spec.zero_grad != ZeroGrad::after_step) refuse("zero_grad", "DeepSpeed frees gradients in its step");
  if (!spec.set_to_none) refuse("set_to_none", "DeepSpeed frees gradients in its step");
  if (spec.optimizer != OptimizerName::adamw && spec.optimizer != OptimizerName::adam)
    refuse("optimizer", "ZeRO is known with torch.optim.AdamW and Adam");
  if (!asked.contiguous_gradients && asked.overlap_comm)
    refuse("zero.overlap_comm", "reducing gradients where they lie on another stream is not modelled",
           "leave zero.contiguous_gradients on");
}

}  // namespace

StepHooks with_zero(Run& run, Module& root, const Spec& spec) {
  const ZeroSpec asked = spec.zero.value_or(ZeroSpec{});
  check_zero(spec, asked);
  return zero(run, root,
              {.stage = spec.parallel == Parallel::zero1 ? 1 : 2,
               .ranks = spec.gpus,
               .rank = spec.rank,
               .grad_accumulation = spec.grad_accumulation,
               .reduce_bucket_size = asked.reduce_bucket_size,
               // DeepSpeed offloads contiguous gradients alone, whatever it is told.
               .contiguous_gradients = asked.contiguous_gradients || asked.offload_optimizer == Offload::cpu,
               .overlap_comm = asked.overlap_comm,
               .reduce_scatter = asked.reduce_scatter,
               .use_multi_rank_bucket_allreduce = asked.use_multi_rank_bucket_allreduce,
               .offload_optimizer = asked.offload_optimizer == Offload::cpu,
               .gradient_clipping = asked.gradient_clipping});
}

}  // namespace tidemark
