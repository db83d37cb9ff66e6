// How many GPUs share the work, and the options of each way, by the names that PyTorch and DeepSpeed give them: a part
// of estimate/spec.h.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/value.h"
#include "parallel/pipeline_schedule.h"
#include "parallel/ring_attention.h"

namespace tidemark {

inline constexpr std::array<std::string_view, 9> kParallelNames{"none",  "ddp",   "zero1", "zero2", "zero3",
                                                                "fsdp1", "fsdp2", "ep",    "gemini"};
enum class Parallel { none, ddp, zero1, zero2, zero3, fsdp1, fsdp2, ep, gemini };

/// DeepSpeed's.
constexpr bool is_zero(Parallel parallel) {
  return parallel == Parallel::zero1 || parallel == Parallel::zero2 || parallel == Parallel::zero3;
}

inline constexpr std::array<std::string_view, 2> kOffloadNames{"none", "cpu"};
enum class Offload { none, cpu };

/// What makes a model in parts, under deepspeed.zero.Init.
inline constexpr std::array<std::string_view, 3> kZeroInitNames{"none", "from_pretrained", "from_config"};
enum class ZeroInit { none, from_pretrained, from_config };

inline constexpr std::array<std::string_view, 3> kLinkNames{"auto", "nvlink", "pcie"};
enum class LinkKind { automatic, nvlink, pcie };

struct DdpSpec {
  double bucket_cap_mb = 25;
  bool gradient_as_bucket_view = false, broadcast_buffers = true;
  bool find_unused_parameters = false, static_graph = false, no_sync = false;

  bool operator==(const DdpSpec&) const = default;
  static void fields(DdpSpec& self, const FieldVisitor& visit);
};

/// DeepSpeed's own names; what is not here is not modelled, and has its default there.
struct ZeroSpec {
  std::int64_t reduce_bucket_size = 500'000'000, allgather_bucket_size = 500'000'000;
  bool reduce_scatter = true, use_multi_rank_bucket_allreduce = true;
  bool contiguous_gradients = true;
  std::optional<bool> overlap_comm;  // none: of stage 3 alone
  Offload offload_optimizer = Offload::none, offload_param = Offload::none;
  ZeroInit init = ZeroInit::none;
  // Of stage 3; none: DeepSpeed's default.
  std::optional<std::int64_t> sub_group_size, stage3_prefetch_bucket_size, stage3_param_persistence_threshold,
      stage3_model_persistence_threshold, stage3_max_live_parameters, stage3_max_reuse_distance;
  double gradient_clipping = 1;

  bool operator==(const ZeroSpec&) const = default;
  static void fields(ZeroSpec& self, const FieldVisitor& visit);
};

/// torch.distributed.tensor.parallel.parallelize_module on a mesh of `degree` GPUs; others may share the data.
struct TpSpec {
  std::int64_t degree = 1;
  Value plan;  // a map from names of modules to styles; null: the family's own
  bool sequence_parallel = false;

  bool operator==(const TpSpec&) const = default;
  static void fields(TpSpec& self, const FieldVisitor& visit);
};

inline constexpr std::array<std::string_view, 2> kRotateMethodNames{"allgather", "alltoall"};

/// torch.distributed.tensor.experimental.context_parallel on a mesh of `degree` GPUs; others may share the data.
struct CpSpec {
  std::int64_t degree = 1;
  RotateMethod rotate_method = RotateMethod::allgather;
  bool load_balance = true, restore_buffers = false;

  bool operator==(const CpSpec&) const = default;
  static void fields(CpSpec& self, const FieldVisitor& visit);
};

inline constexpr std::array<std::string_view, 4> kPolicyDtypeNames{"none", "bf16", "fp16", "fp32"};
enum class PolicyDtype { none, bf16, fp16, fp32 };

/// The arguments of torch's fully_shard and of its MixedPrecisionPolicy; what is not here has its default there.
struct Fsdp2Spec {
  std::string reshard_after_forward = "auto";
  PolicyDtype param_dtype = PolicyDtype::none, reduce_dtype = PolicyDtype::none;
  bool requires_gradient_sync = true;
  Offload offload_policy = Offload::none;
  std::optional<std::int64_t> data_parallel_replicate_degree = {};  // torchtitan's name; none: a mesh of one dimension
  std::vector<std::string> transformer_layer_cls_to_wrap = {};  // transformers' name; empty: the layers of every list

  bool operator==(const Fsdp2Spec&) const = default;
  static void fields(Fsdp2Spec& self, const FieldVisitor& visit);
};

/// transformers' expert parallelism: DistributedConfig(tp_size=degree, enable_expert_parallel=True)
struct EpSpec {
  std::optional<std::int64_t> degree;  // none: all GPUs

  bool operator==(const EpSpec&) const = default;
  static void fields(EpSpec& self, const FieldVisitor& visit);
};

inline constexpr std::array<std::string_view, 4> kShardingStrategyNames{"FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD",
                                                                        "_HYBRID_SHARD_ZERO2"};
enum class ShardingStrategy { full_shard, shard_grad_op, hybrid_shard, hybrid_shard_zero2 };

/// Those of torch's FullyShardedDataParallel and of its MixedPrecision, with use_orig_params.
struct Fsdp1Spec {
  ShardingStrategy sharding_strategy = ShardingStrategy::full_shard;
  PolicyDtype param_dtype = PolicyDtype::none, reduce_dtype = PolicyDtype::none;
  std::vector<std::string> transformer_layer_cls_to_wrap = {};

  bool operator==(const Fsdp1Spec&) const = default;
  static void fields(Fsdp1Spec& self, const FieldVisitor& visit);
};

inline constexpr std::array<std::string_view, 4> kPipelineScheduleNames{"gpipe", "1f1b", "interleaved_1f1b",
                                                                        "looped_bfs"};

/// torch.distributed.pipelining's own names, where it has them.
struct PipelineSpec {
  std::int64_t degree = 1;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t microbatches = 1, stages_per_rank = 1;
  std::vector<std::int64_t> layers;  // of each stage; empty: as even as can be, the first ones have one more
  bool return_outputs = true, scale_grads = true;

  bool operator==(const PipelineSpec&) const = default;
  static void fields(PipelineSpec& self, const FieldVisitor& visit);
};

}  // namespace tidemark
