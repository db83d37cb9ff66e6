
#include "base/error.h"
#include "base/number.h"
#include "estimate/program.h"
#include "estimate/strategies.h"
#include "parallel/fsdp1.h"
#include "parallel/fsdp2.h"

namespace tidemark {
namespace {

constexpr const char* kReshard = "fsdp2.reshard_after_forward";

/// _get_post_forward_mesh_info: the ranks that share parameters after a forward.  Where nothing is said torchtitan
/// keeps what a stage of a pipeline has gathered (torchtitan/distributed/fsdp.py,
/// get_fsdp_reshard_after_forward_policy).
std::optional<std::int64_t> reshard_after_forward(const Spec& spec, const std::string& text, std::int64_t ranks) {
  if (text == "auto") return spec.pp ? std::optional<std::int64_t>(0) : std::nullopt;
  if (text == "true") return ranks;
  if (text == "false") return 0;
  const auto shared_by = parse_number<std::int64_t>(text);
  if (!shared_by)
    throw Error(Errc::bad_value, Value(text).quoted() + " is no way to reshard", kReshard,
                "write auto, true, false, or a number of GPUs");
  if (*shared_by < 1 || ranks % *shared_by != 0)
    throw Error(Errc::bad_value, "of " + std::to_string(ranks) + " GPUs no equal groups of " + text + " can be made",
                kReshard, "write a divisor of gpus");
  return *shared_by == 1 ? 0 : *shared_by;
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
  check_dtensor_optimizer(spec);
  if (spec.grad_scaler) refuse("grad_scaler", "fully_shard is known without a scaler", "train in bf16");
  // `accelerate launch` makes a backend for the host beside NCCL where it is told to offload (1.15.0: state.py,
  // PartialState).
  if (spec.fsdp2 && spec.fsdp2->offload_policy == Offload::cpu && spec.max_grad_norm && !runs_as_trainer(spec))
    refuse("max_grad_norm", "NCCL cannot add up norms of gradients that are on the host",
           "leave it or offload_policy out");
}

/// Its process groups are a node, and the GPUs that have the same place in their nodes.
bool is_hybrid_shard(ShardingStrategy strategy) {
  return strategy == ShardingStrategy::hybrid_shard || strategy == ShardingStrategy::hybrid_shard_zero2;
}

void check_fsdp1(const Spec& spec) {
  if (spec.fsdp1 && is_hybrid_shard(spec.fsdp1->sharding_strategy) && spec.gpus_per_node == 1)
    refuse("gpus_per_node", "on nodes of one GPU FullyShardedDataParallel does not shard", "set parallel to ddp");
  if (spec.gpus == 1) refuse("gpus", "on one GPU FullyShardedDataParallel does not shard", "set parallel to none");
  if (spec.grad_scaler) refuse("grad_scaler", "FullyShardedDataParallel is known without a scaler", "train in bf16");
  if (spec.checkpointing == Checkpointing::reentrant)
    refuse("checkpointing", "FullyShardedDataParallel is known without reentrant checkpointing",
           "set checkpointing to non_reentrant");
}

}  // namespace

StepHooks with_fsdp1(Run& run, Module& root, const Spec& spec, const Prepared& /*before*/) {
  const Fsdp1Spec asked = spec.fsdp1.value_or(Fsdp1Spec{});
  check_fsdp1(spec);
  const std::optional<Dtype> param_dtype = policy_dtype(asked.param_dtype), reduced = policy_dtype(asked.reduce_dtype);
  const bool is_hybrid = is_hybrid_shard(asked.sharding_strategy);
  const std::int64_t ranks = is_hybrid && spec.gpus_per_node > 0 ? spec.gpus_per_node : spec.gpus;
  return fsdp1(run, root,
               {.ranks = ranks,
                .rank = spec.rank % ranks,
                .has_copies = is_hybrid,
                .reshard_after_forward = asked.sharding_strategy == ShardingStrategy::full_shard ||
                                         asked.sharding_strategy == ShardingStrategy::hybrid_shard,
                .param_dtype = param_dtype,
                .reduce_dtype = reduced ? reduced : param_dtype,
                .layer_classes = asked.transformer_layer_cls_to_wrap});
}

StepHooks with_fsdp2(Run& run, Module& root, const Spec& spec, const Prepared& before) {
  const Fsdp2Spec asked = spec.fsdp2.value_or(Fsdp2Spec{});
  check_fsdp2(spec);
  const MeshPlace place = place_of(spec);
  const std::optional<std::int64_t> reshard = reshard_after_forward(spec, asked.reshard_after_forward, place.shards);
  if (before.split && reshard.value_or(0) != 0 && reshard != place.shards)  // FSDPParam.to_sharded_post_forward
    throw Error(Errc::bad_value, "PyTorch does not let fewer GPUs share what tp has split", kReshard,
                "write auto, true or false");
  return fsdp2(run, root,
               {.ranks = place.shards,
                .rank = place.shard,
                .has_copies = asked.data_parallel_replicate_degree.has_value(),
                .reshard_after_forward = reshard,
                .param_dtype = policy_dtype(asked.param_dtype),
                .reduce_dtype = policy_dtype(asked.reduce_dtype),
                .offload_to_cpu = asked.offload_policy == Offload::cpu,
                .requires_gradient_sync = asked.requires_gradient_sync,
                .as_accelerate = runs_as_trainer(spec),
                .layer_classes = asked.transformer_layer_cls_to_wrap,
                .split = before.split});
}

}  // namespace tidemark
