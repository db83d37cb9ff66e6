#include <charconv>

#include "base/error.h"
#include "estimate/program.h"
#include "estimate/strategies.h"
#include "parallel/fsdp2.h"

namespace tidemark {
namespace {

constexpr const char* kReshard = "fsdp2.reshard_after_forward";

/// _get_post_forward_mesh_info: the ranks that share parameters after a forward.
std::optional<std::int64_t> reshard_after_forward(const std::string& text, std::int64_t ranks) {
  if (text == "auto") return std::nullopt;
  if (text == "true") return ranks;
  if (text == "false") return 0;
  std::int64_t shared_by = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, shared_by);
  if (error != std::errc() || at != end)
    throw Error(Errc::bad_value, Value(text).quoted() + " is no way to reshard", kReshard,
                "write auto, true, false, or a number of GPUs");
  if (shared_by < 1 || ranks % shared_by != 0)
    throw Error(Errc::bad_value, "of " + std::to_string(ranks) + " GPUs no equal groups of " + text + " can be made",
                kReshard, "write a divisor of gpus");
  return shared_by == 1 ? 0 : shared_by;
}

std::optional<Dtype> policy_dtype(PolicyDtype dtype) {
  switch (dtype) {
    case PolicyDtype::none: break;
    case PolicyDtype::bf16: return Dtype::bf16;
    case PolicyDtype::fp16: return Dtype::f16;
    case PolicyDtype::fp32: return Dtype::f32;
  }
  return std::nullopt;
}

void check_fsdp2(const Spec& spec) {
  if (spec.grad_scaler) refuse("grad_scaler", "fully_shard is known without a scaler", "train in bf16");
}

}  // namespace

StepHooks with_fsdp2(Run& run, Module& root, const Spec& spec) {
  const Fsdp2Spec asked = spec.fsdp2.value_or(Fsdp2Spec{});
  check_fsdp2(spec);
  return fsdp2(run, root,
               {.ranks = spec.gpus,
                .rank = spec.rank,
                .reshard_after_forward = reshard_after_forward(asked.reshard_after_forward, spec.gpus),
                .param_dtype = policy_dtype(asked.param_dtype),
                .reduce_dtype = policy_dtype(asked.reduce_dtype),
                .requires_gradient_sync = asked.requires_gradient_sync});
}

}  // namespace tidemark
