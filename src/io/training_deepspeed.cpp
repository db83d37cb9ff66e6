// DeepSpeed's JSON: runtime/zero/config.py and runtime/config.py (0.19.8).  "auto" stands for what the Trainer says:
// transformers/integrations/deepspeed.py, HfTrainerDeepSpeedConfig (5.17.0).
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "io/training_arguments.h"
#include "program/config_names.h"

namespace tidemark::io {
namespace {

/// trainer_config_finalize: what buckets are made of
std::int64_t hidden_size(TrainingDraft& draft) {
  const Value& config = draft.model_config();
  const Value* text_config = config.find("text_config");
  for (const Value* where : {&config, text_config}) {
    if (!where) continue;
    for (const std::string_view key : kWidthNames)
      if (const Value* found = where->find(key);
          found && found->as_integer() && *found->as_integer() > 0 && *found->as_integer() < (1 << 24))
        return *found->as_integer();
  }
  throw Error(Errc::bad_value, "config.json has no hidden_size, which \"auto\" buckets are made of", "deepspeed",
              "write reduce_bucket_size as a number");
}

bool is_auto(const Value* value) { return value && value->as_text() && *value->as_text() == "auto"; }

/// A number of elements under either name; "auto" by the hidden size, nothing where nothing is said.
template <class Auto>
std::optional<std::int64_t> elements(TrainingKeys& zero, std::initializer_list<std::string_view> names,
                                     Auto&& automatic) {
  for (const std::string_view name : names) {
    const Value* found = zero.find(name);
    if (!found) continue;
    for (const std::string_view other : names) zero.find(other);
    return is_auto(found) ? automatic() : zero.integer(name);
  }
  return std::nullopt;
}

Offload read_offload(TrainingKeys& zero, std::string_view key) {
  TrainingKeys offload = zero.map(key);
  const std::string device = offload.text("device").value_or("none");
  if (device != "none" && device != "cpu")  // the GPU has what is on its way alone, wherever it goes
    offload.refuse("device", {}, {"cpu", Takes::either});
  if (const auto ratio = offload.real("ratio"); ratio && *ratio != 1) offload.refuse("ratio", {}, {"1", Takes::less});
  return device == "none" ? Offload::none : Offload::cpu;
}

void read_stage_3(TrainingKeys& zero, ZeroSpec& spec, TrainingDraft& draft) {
  const auto no_auto = [&](std::int64_t value) { return [value] { return std::optional(value); }; };
  spec.sub_group_size = elements(zero, {"sub_group_size"}, no_auto(1'000'000'000));
  spec.stage3_prefetch_bucket_size = elements(zero, {"stage3_prefetch_bucket_size", "prefetch_bucket_size"}, [&] {
    const std::int64_t hidden = hidden_size(draft);
    return std::optional(static_cast<std::int64_t>(0.9 * static_cast<double>(hidden) * static_cast<double>(hidden)));
  });
  spec.stage3_param_persistence_threshold =
      elements(zero, {"stage3_param_persistence_threshold", "param_persistence_threshold"},
               [&] { return std::optional(10 * hidden_size(draft)); });
  spec.stage3_model_persistence_threshold = elements(
      zero, {"stage3_model_persistence_threshold", "model_persistence_threshold"}, no_auto(9'000'000'000'000'000));
  spec.stage3_max_live_parameters =
      elements(zero, {"stage3_max_live_parameters", "max_live_parameters"}, no_auto(1'000'000'000));
  spec.stage3_max_reuse_distance =
      elements(zero, {"stage3_max_reuse_distance", "max_reuse_distance"}, no_auto(1'000'000'000));
}

/// What stage 1 and 2 have besides, and what stage 3 reads and does not use.
void read_zero(TrainingKeys& zero, std::int64_t stage, ZeroSpec& spec, TrainingDraft& draft) {
  if (const auto bucket = elements(zero, {"reduce_bucket_size"}, [&] {
        const std::int64_t hidden = hidden_size(draft);
        return std::optional(hidden * hidden);
      }))
    spec.reduce_bucket_size = *bucket;
  const auto allgather =
      elements(zero, {"allgather_bucket_size"}, [] { return std::optional<std::int64_t>(500'000'000); });
  spec.overlap_comm = zero.boolean("overlap_comm");
  spec.contiguous_gradients = zero.boolean("contiguous_gradients").value_or(true);
  spec.reduce_scatter = zero.boolean("reduce_scatter").value_or(true);
  const bool multi_rank = zero.boolean("use_multi_rank_bucket_allreduce").value_or(true);
  spec.offload_optimizer = read_offload(zero, "offload_optimizer");
  spec.offload_param = read_offload(zero, "offload_param");
  if (zero.boolean("cpu_offload").value_or(false)) spec.offload_optimizer = Offload::cpu;
  if (stage == 3) {
    read_stage_3(zero, spec, draft);
  } else {
    if (allgather) spec.allgather_bucket_size = *allgather;
    spec.use_multi_rank_bucket_allreduce = multi_rank;
    spec.offload_param = Offload::none;  // of stage 3 alone: DeepSpeed does nothing with it
    zero.pass_over({"stage3_*", "sub_group_size", "prefetch_bucket_size", "param_persistence_threshold",
                    "model_persistence_threshold", "max_live_parameters", "max_reuse_distance"});
  }
  zero.must_be("zero_hpz_partition_size", {"1"}, Takes::less);
  zero.must_be("mics_shard_size", {"-1"}, Takes::less);
  if (!zero.boolean("memory_efficient_linear").value_or(true))
    zero.refuse("memory_efficient_linear", {}, {"true", Takes::either});
  zero.must_be_off({"round_robin_gradients"}, Takes::either);
  zero.must_be_off({"zero_quantized_weights", "zero_quantized_gradients", "zero_quantized_nontrainable_weights",
                    "zenflow", "cpu_offload_param", "legacy_stage1", "parameter_alignment",
                    "stage3_module_granularity_threshold", "module_granularity_threshold",
                    "stage3_use_all_reduce_for_fetch_params", "stage3_allgather_sequential"});
  zero.pass_over({"stage3_gather_*", "gather_16bit_weights_on_model_save", "allgather_partitions",
                  "load_from_fp32_weights", "elastic_checkpoint", "ignore_unused_parameters", "compute_grad_norm",
                  "cpu_offload_use_pin_memory", "pipeline_loading_checkpoint", "override_module_apply",
                  "log_trace_cache_warnings", "enable_sanity_checks", "offload_optimizer", "offload_param"});
}

void read_precision(TrainingKeys& keys, const TrainingArguments& arguments, bool is_made_in_parts, Spec& spec) {
  TrainingKeys bf16 = keys.map("bf16"), fp16 = keys.map("fp16");
  const bool is_bf16 = bf16.boolean("enabled").value_or(arguments.bf16 && !fp16.boolean("enabled").value_or(false));
  if (!is_bf16)
    keys.refuse("bf16", "ZeRO is predicted with bf16 weights alone",
                {"true", arguments.fp16 || fp16.boolean("enabled").value_or(false) ? Takes::either : Takes::less});
  bf16.must_be_off({"immediate_grad_update", "bf16_master_weights_and_grads", "bf16_optimizer_states"});
  spec.dtype = WeightDtype::bf16;
  spec.autocast = Autocast::none;
  spec.grad_scaler = false;
  // engine.py, _configure_distributed_model: module.bfloat16(), where the model is whole
  if (spec.lora && !is_made_in_parts) spec.lora->adapter_dtype = AdapterDtype::bf16;
}

void read_optimizer(TrainingKeys& keys, Spec& spec) {
  TrainingKeys optimizer = keys.map("optimizer");
  const auto type = optimizer.text("type");
  if (!type) return;
  if (*type == "AdamW")
    spec.optimizer = OptimizerName::adamw;
  else if (*type == "Adam")
    spec.optimizer = OptimizerName::adam;
  else
    optimizer.refuse("type", {}, {"AdamW", Takes::either});
  spec.weight_decay.reset();
}

}  // namespace

void read_deepspeed(const Value& config, const std::string& where, const TrainingArguments& arguments,
                    TrainingDraft& draft) {
  TrainingKeys keys(config, ValuePath(where), draft.refusals);
  TrainingKeys zero = keys.map("zero_optimization");
  Spec& spec = draft.spec;
  const std::int64_t stage = zero.integer("stage").value_or(0);
  if (stage < 1 || stage > 3)
    keys.refuse("zero_optimization", fmt::format("DeepSpeed's stage {} is not predicted", stage),
                {"stage 1", Takes::less});
  spec.parallel = stage == 2 ? Parallel::zero2 : stage == 3 ? Parallel::zero3 : Parallel::zero1;
  ZeroSpec options;
  read_zero(zero, stage, options, draft);
  options.gradient_clipping =
      keys.real("gradient_clipping").value_or(is_auto(keys.find("gradient_clipping")) ? arguments.max_grad_norm : 0);
  // A trainer knows this file before it has a model, which is then made in parts, unless it is quantized; accelerate's
  // zero3_init_flag does not change that.  transformers: integrations/deepspeed.py, HfDeepSpeedConfig (5.17.0);
  // accelerate: utils/dataclasses.py, set_deepspeed_weakref (1.15.0)
  if (stage == 3 && !spec.quantization) options.init = ZeroInit::from_pretrained;
  if (options.init != ZeroInit::none && spec.dtype != WeightDtype::bf16)
    draft.assume(
        "zero.Init makes weights in bf16, as from_pretrained(dtype=bfloat16) does: those that are loaded as fp32 are that first, "
        "one by one");
  spec.zero = options;
  read_precision(keys, arguments, options.init != ZeroInit::none, spec);
  spec.max_grad_norm.reset();
  spec.optimizer_impl = OptimizerImpl::automatic;
  read_optimizer(keys, spec);
  TrainingKeys checkpointing = keys.map("activation_checkpointing");
  checkpointing.must_be_off({"partition_activations", "cpu_checkpointing"}, Takes::more);
  TrainingKeys tensor_parallel = keys.map("tensor_parallel");
  tensor_parallel.must_be("autotp_size", {"1"}, Takes::more);
  keys.must_be("sequence_parallel_size", {"1"}, Takes::more);
  keys.must_be_off({"amp", "hybrid_engine", "compression_training", "progressive_layer_drop", "sparse_attention",
                    "curriculum_learning"});
  for (const std::string& key : zero.unread()) draft.assume("deepspeed: not read: zero_optimization." + key);
}

}  // namespace tidemark::io
