#include "estimate/gemini_spec.h"

#include "estimate/field_info.h"
#include "estimate/parallel_spec.h"

namespace tidemark {
namespace {

inline FieldInfo classes_to_wrap(std::string_view group) {
  return {.help = "Classes whose modules are wrapped, each by itself (default: the layers of every nn.ModuleList)",
          .placeholder = "NAMES",
          .group = group};
}

}  // namespace

void DdpSpec::fields(DdpSpec& self, const FieldVisitor& visit) {
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

void ZeroSpec::fields(ZeroSpec& self, const FieldVisitor& visit) {
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

void TpSpec::fields(TpSpec& self, const FieldVisitor& visit) {
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

void CpSpec::fields(CpSpec& self, const FieldVisitor& visit) {
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

void EpSpec::fields(EpSpec& self, const FieldVisitor& visit) {
  using namespace spec_detail;
  visit("degree", self.degree,
        whole("Many GPUs", "Ranks that share the experts of each layer (default: all GPUs)", 1, 1 << 16));
}

void Fsdp2Spec::fields(Fsdp2Spec& self, const FieldVisitor& visit) {
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

void Fsdp1Spec::fields(Fsdp1Spec& self, const FieldVisitor& visit) {
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

void PipelineSpec::fields(PipelineSpec& self, const FieldVisitor& visit) {
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

void GeminiSpec::fields(GeminiSpec& self, const FieldVisitor& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  const auto number = [group](std::string_view help, double low, double high) {
    return FieldInfo{.help = help, .placeholder = "X", .group = group, .low = low, .high = high};
  };
  visit("placement_policy", self.placement_policy,
        choice(group, "Who decides where chunks lie (auto is not known)", kPlacementPolicyNames));
  visit("shard_param_frac", self.shard_param_frac,
        number("Share of the parameters that are let go of behind an operation, counted as Gemini counts", 0, 1));
  visit("offload_optim_frac", self.offload_optim_frac,
        number("Share of the optimizer's states on the host (above 0 is not known)", 0, 1));
  visit("offload_param_frac", self.offload_param_frac,
        number("Share of the parameters on the host (above 0 is not known)", 0, 1));
  visit("min_chunk_size_m", self.min_chunk_size_m,
        number("Least size of a chunk in 2^20 elements; a smaller model is one chunk that is never cut", 1e-6, 1e6));
  visit("search_range_m", self.search_range_m,
        number("How much larger than the least chunks may be, in 2^20 elements", 0, 1e4));
  visit("hidden_dim", self.hidden_dim, whole(group, "Steps of the search, in elements (default: 1024)", 1, 1 << 30));
  visit("max_prefetch", self.max_prefetch,
        whole(group, "Chunks that are gathered ahead (above 0 is not known)", 0, 1 << 16));
  visit("precision", self.precision, choice(group, "Type of the parameters' chunks", kGeminiPrecisionNames));
  visit("master_weights", self.master_weights,
        FieldInfo{.help = "The optimizer has float32 copies",
                  .group = group,
                  .negated = "The optimizer updates the parameters themselves (not known)"});
  visit("enable_gradient_accumulation", self.enable_gradient_accumulation,
        text(group, "Gradients have chunks of their own, which grad_accumulation needs"));
  visit("enable_async_reduce", self.enable_async_reduce,
        FieldInfo{.help = "Gradients are reduced on a stream of their own",
                  .group = group,
                  .negated = "Gradients are reduced on the stream of the computation"});
  visit("pin_memory", self.pin_memory,
        FieldInfo{.help = "Chunks have a pinned copy on the host, which takes nothing of the card",
                  .group = group,
                  .negated = "Chunks have no copy on the host"});
}

}  // namespace tidemark
