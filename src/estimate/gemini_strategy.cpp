#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "estimate/strategies.h"
#include "parallel/gemini.h"

namespace tidemark {
namespace {

void check_loop(const Spec& spec) {
  if (spec.autocast != Autocast::none) refuse("autocast", "Gemini casts the model itself", "set gemini.precision");
  if (spec.grad_scaler) refuse("grad_scaler", "Gemini scales the loss itself");
  if (spec.zero_grad != ZeroGrad::after_step) refuse("zero_grad", "Gemini frees gradients in every backward pass");
  if (!spec.set_to_none) refuse("set_to_none", "Gemini frees gradients in every backward pass");
  if (spec.optimizer != OptimizerName::adamw && spec.optimizer != OptimizerName::adam)
    refuse("optimizer", "Gemini is known with HybridAdam, which stands for adamw and adam here");
  if (spec.optimizer_impl != OptimizerImpl::automatic) refuse("optimizer_impl", "HybridAdam has one of its own");
  if (spec.amsgrad) refuse("amsgrad", "HybridAdam does not have it");
  if (spec.maximize) refuse("maximize", "HybridAdam does not have it");
  if (spec.lora) refuse("lora", "GeminiPlugin.enable_lora raises NotImplementedError");
}

void check_options(const Spec& spec, const GeminiSpec& asked) {
  if (asked.placement_policy != PlacementPolicy::fixed)
    refuse("gemini.placement_policy", "auto decides by what it measures while it runs, which is not modelled");
  if (asked.offload_optim_frac > 0) refuse("gemini.offload_optim_frac", "chunks on the host are not modelled");
  if (asked.offload_param_frac > 0) refuse("gemini.offload_param_frac", "chunks on the host are not modelled");
  if (!asked.master_weights) refuse("gemini.master_weights", "training without float32 copies is not modelled");
  if (asked.max_prefetch > 0) refuse("gemini.max_prefetch", "gathering ahead is not modelled");
  if (spec.grad_accumulation > 1 && !asked.enable_gradient_accumulation)
    refuse("grad_accumulation", "without chunks for gradients each pass overwrites the parameters of the next",
           "set gemini.enable_gradient_accumulation");
  constexpr std::int64_t kGrowthInterval = 1000;  // DynamicGradScaler
  if (asked.precision == GeminiPrecision::fp16 && spec.steps >= kGrowthInterval)
    refuse("steps", "in its 1000th step Gemini's scaler makes its scale anew, which is not modelled");
}

/// Models whose operations on parameters are all known to be those that have hooks here.
constexpr std::array<std::string_view, 3> kKnown{
    "GPT2LMHeadModel",
    "LlamaForCausalLM",
    "OPTForCausalLM",
};

void check_model(const Module& root) {
  if (std::find(kKnown.begin(), kKnown.end(), root.class_name) == kKnown.end())
    throw Error(Errc::unsupported,
                fmt::format("which operations of {} take parameters is not known to gemini", root.class_name),
                "parallel", fmt::format("it is known with {}", fmt::join(kKnown, ", ")));
}

}  // namespace

StepHooks with_gemini(Run& run, Module& root, const Spec& spec, const Prepared& /*before*/) {
  const GeminiSpec asked = spec.gemini.value_or(GeminiSpec{});
  if (spec.tp || spec.cp) refuse(spec.tp ? "tp" : "cp", "it is not known together with gemini");
  check_loop(spec);
  check_options(spec, asked);
  check_model(root);
  const ChunkSearch known;  // its defaults
  return gemini(run, root,
                {.ranks = spec.gpus,
                 .rank = spec.rank,
                 .grad_accumulation = spec.grad_accumulation,
                 .precision = asked.precision == GeminiPrecision::bf16 ? Dtype::bf16 : Dtype::f16,
                 .shard_param_frac = asked.shard_param_frac,
                 .search = {.search_range_m = asked.search_range_m,
                            .min_chunk_size_m = asked.min_chunk_size_m,
                            .search_interval = asked.hidden_dim.value_or(known.search_interval)},
                 .enable_gradient_accumulation = asked.enable_gradient_accumulation,
                 .enable_async_reduce = asked.enable_async_reduce,
                 .clips = spec.max_grad_norm.value_or(0) > 0});
}

}  // namespace tidemark
