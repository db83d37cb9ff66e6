// How many GPUs share the work, and the options of each way, by the names that PyTorch and DeepSpeed give them: a part
// of estimate/spec.h.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
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
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
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
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// torch.distributed.tensor.parallel.parallelize_module on a mesh of `degree` GPUs; others may share the data.
struct TpSpec {
  std::int64_t degree = 1;
  Value plan;  // a map from names of modules to styles; null: the family's own
  bool sequence_parallel = false;

  bool operator==(const TpSpec&) const = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

inline constexpr std::array<std::string_view, 2> kRotateMethodNames{"allgather", "alltoall"};

/// torch.distributed.tensor.experimental.context_parallel on a mesh of `degree` GPUs; others may share the data.
struct CpSpec {
  std::int64_t degree = 1;
  RotateMethod rotate_method = RotateMethod::allgather;
  bool load_balance = true, restore_buffers = false;

  bool operator==(const CpSpec&) const = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
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
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// transformers' expert parallelism: DistributedConfig(tp_size=degree, enable_expert_parallel=True)
struct EpSpec {
  std::optional<std::int64_t> degree;  // none: all GPUs

  bool operator==(const EpSpec&) const = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
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
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
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
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

namespace spec_detail {

inline FieldInfo classes_to_wrap(std::string_view group) {
  return {.help = "Classes whose modules are wrapped, each by itself (default: the layers of every nn.ModuleList)",
          .placeholder = "NAMES",
          .group = group};
}

inline FieldInfo whole(std::string_view group, std::string_view help, double low, double high) {
  return {.help = help, .placeholder = "N", .group = group, .low = low, .high = high};
}
inline FieldInfo text(std::string_view group, std::string_view help, std::string_view placeholder = {}) {
  return {.help = help, .placeholder = placeholder, .group = group};
}
inline FieldInfo choice(std::string_view group, std::string_view help, std::span<const std::string_view> names) {
  return {.help = help, .group = group, .names = names};
}

}  // namespace spec_detail

template <class Self, class Visit>
void DdpSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  visit("bucket_cap_mb", self.bucket_cap_mb,
        FieldInfo{.help = "MiB of gradients that are sent at once",
                  .placeholder = "X",
                  .group = group,
                  .low = 1e-3,
                  .high = 1e6});
  visit("gradient_as_bucket_view", self.gradient_as_bucket_view, text(group, "Gradients lie in the buckets"));
  visit("broadcast_buffers", self.broadcast_buffers,
        FieldInfo{
            .help = "Buffers are sent before every forward pass", .group = group, .negated = "Buffers are not sent"});
  visit("find_unused_parameters", self.find_unused_parameters,
        text(group, "Every forward pass looks for parameters that get no gradient"));
  visit("static_graph", self.static_graph, text(group, "Every step is like the first"));
  visit("no_sync", self.no_sync,
        text(group,
             "With grad_accumulation: all passes of a step but its last are within no_sync(), as accelerate does"));
}

template <class Self, class Visit>
void ZeroSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  visit("reduce_bucket_size", self.reduce_bucket_size, whole(group, "Elements that are reduced at once", 1, 1e12));
  visit("allgather_bucket_size", self.allgather_bucket_size,
        whole(group, "Elements that are gathered at once; torch gathers all of them", 0, 1e12));
  visit("reduce_scatter", self.reduce_scatter,
        FieldInfo{.help = "Every rank gets its part of the gradients alone",
                  .group = group,
                  .negated = "Every rank gets all gradients"});
  visit("use_multi_rank_bucket_allreduce", self.use_multi_rank_bucket_allreduce,
        FieldInfo{.help = "The parts of all ranks are sent as one",
                  .group = group,
                  .negated = "The part of each rank is sent alone"});
  visit(
      "contiguous_gradients", self.contiguous_gradients,
      FieldInfo{
          .help = "Gradients are copied into one buffer", .group = group, .negated = "Gradients stay where they are"});
  visit("overlap_comm", self.overlap_comm,
        FieldInfo{
            .help = "Gradients are reduced, and parameters gathered, on streams of their own (default: zero3 alone)",
            .group = group,
            .negated = "They are sent on the stream of the computation"});
  visit("offload_optimizer", self.offload_optimizer,
        choice(group, "Where the optimizer's states are instead of on the card: offload_optimizer.device",
               kOffloadNames));
  visit("offload_param", self.offload_param,
        choice(group, "Where the parts of the parameters are instead of on the card: offload_param.device (zero3)",
               kOffloadNames));
  visit(
      "init", self.init,
      choice(group,
             "What makes the model in parts, under deepspeed.zero.Init, once DeepSpeed's file is known (zero3); none: "
             "it is whole first",
             kZeroInitNames));
  visit("sub_group_size", self.sub_group_size,
        whole(group, "Elements of this rank that the optimizer updates at once (zero3: 1e9)", 0, 1e15));
  visit("stage3_prefetch_bucket_size", self.stage3_prefetch_bucket_size,
        whole(group, "Elements that are gathered ahead at once (zero3: 5e7)", 0, 1e12));
  visit("stage3_param_persistence_threshold", self.stage3_param_persistence_threshold,
        whole(group, "Parameters of this many elements at most are never let go of (zero3: 1e5)", 0, 1e12));
  visit("stage3_model_persistence_threshold", self.stage3_model_persistence_threshold,
        whole(group, "Elements of such parameters together at most (zero3: no limit)", 0, 9e15));
  visit("stage3_max_live_parameters", self.stage3_max_live_parameters,
        whole(group, "Elements beyond which nothing is gathered ahead (zero3: 1e9)", 0, 1e12));
  visit("stage3_max_reuse_distance", self.stage3_max_reuse_distance,
        whole(group, "A parameter that is used again within this many elements is kept (zero3: 1e9)", 0, 1e12));
  visit("gradient_clipping", self.gradient_clipping,
        FieldInfo{.help = "Clip gradients to this norm (0: no clipping)",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 1e30});
}

template <class Self, class Visit>
void TpSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  visit("degree", self.degree, whole(group, "GPUs that split each matrix", 1, 1 << 16));
  visit("plan", self.plan,
        text(group,
             "A map from names of modules, with * for a part of one, to colwise, rowwise or sequence, or to a map with "
             "`style` and torch's own arguments (default: the plan of transformers)",
             "PLAN"));
  visit("sequence_parallel", self.sequence_parallel,
        text(group, "The default plan also splits what is between the matrices, by tokens"));
}

template <class Self, class Visit>
void CpSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  visit("degree", self.degree, whole(group, "GPUs that share the tokens of each sample", 1, 1 << 16));
  visit("rotate_method", self.rotate_method,
        choice(group, "How keys and values come from other GPUs: set_rotate_method", kRotateMethodNames));
  visit("load_balance", self.load_balance,
        FieldInfo{.help = "Each GPU has a chunk from the beginning of a sample and one from its end",
                  .group = group,
                  .negated = "Each GPU has a stretch of a sample: _cp_options.enable_load_balance = False"});
  visit("restore_buffers", self.restore_buffers,
        text(group, "The batch is whole again behind each backward pass: no no_restore_buffers"));
}

template <class Self, class Visit>
void EpSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  visit("degree", self.degree,
        whole("Many GPUs", "Ranks that share the experts of each layer (default: all GPUs)", 1, 1 << 16));
}

template <class Self, class Visit>
void Fsdp2Spec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  visit("reshard_after_forward", self.reshard_after_forward,
        FieldInfo{.help = "Layers let go of what they gathered: true, false, or the number of GPUs that then share it "
                          "(auto: all but the root's, as torch does; in a pipeline none does, as in torchtitan)",
                  .placeholder = "HOW",
                  .group = group,
                  .number_is_text = true,
                  .truth_is_text = true});
  visit("param_dtype", self.param_dtype, choice(group, "Type that parameters are gathered in", kPolicyDtypeNames));
  visit("reduce_dtype", self.reduce_dtype, choice(group, "Type that gradients are reduced in", kPolicyDtypeNames));
  visit("requires_gradient_sync", self.requires_gradient_sync,
        FieldInfo{.help = "Gradients are reduced in every backward pass of a step",
                  .group = group,
                  .negated = "Gradients are reduced in the last backward pass of a step alone: "
                             "set_requires_gradient_sync(False)"});
  visit("offload_policy", self.offload_policy,
        choice(group,
               "Where shards, their gradients and the optimizer's states are instead of on the card: CPUOffloadPolicy",
               kOffloadNames));
  visit("data_parallel_replicate_degree", self.data_parallel_replicate_degree,
        whole(group, "Groups of GPUs that have the same shards (HSDP); the GPUs of one group shard", 1, 1 << 16));
  visit("transformer_layer_cls_to_wrap", self.transformer_layer_cls_to_wrap, classes_to_wrap(group));
}

template <class Self, class Visit>
void Fsdp1Spec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  visit(
      "sharding_strategy", self.sharding_strategy,
      choice(group,
             "Whether layers let go of what they gathered after the forward pass too; hybrid: GPUs of one node shard, "
             "and nodes are copies",
             kShardingStrategyNames));
  visit("param_dtype", self.param_dtype, choice(group, "Type that parameters are gathered in", kPolicyDtypeNames));
  visit("reduce_dtype", self.reduce_dtype, choice(group, "Type that gradients are reduced in", kPolicyDtypeNames));
  visit("transformer_layer_cls_to_wrap", self.transformer_layer_cls_to_wrap, classes_to_wrap(group));
}

template <class Self, class Visit>
void PipelineSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  visit("degree", self.degree,
        whole(group, "GPUs that share the layers; the rest of gpus shares the data", 1, 1 << 16));
  visit("schedule", self.schedule, choice(group, "Order of micro-batches", kPipelineScheduleNames));
  visit("microbatches", self.microbatches, whole(group, "Parts that batch is cut into", 1, 1 << 16));
  visit("stages_per_rank", self.stages_per_rank, whole(group, "Stages on each GPU", 1, 64));
  visit("layers", self.layers,
        FieldInfo{.help = "Layers of each stage (default: as even as can be)",
                  .placeholder = "N,N",
                  .group = group,
                  .low = 0,
                  .high = 1 << 16});
  visit("return_outputs", self.return_outputs,
        FieldInfo{.help = "The last stage keeps the outputs of all micro-batches and joins them",
                  .group = group,
                  .negated = "schedule.step(…, return_outputs=False)"});
  visit("scale_grads", self.scale_grads,
        FieldInfo{.help = "Gradients are divided by the number of micro-batches",
                  .group = group,
                  .negated = "Gradients are left as they are"});
}

}  // namespace tidemark
