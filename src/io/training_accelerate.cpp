// accelerate's YAML, as `accelerate config` writes it (1.15.0: commands/config, utils/dataclasses.py), and FSDP's keys,
// which TrainingArguments have too.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "io/training_arguments.h"

namespace tidemark::io {
namespace {

/// DeepSpeedPlugin.__post_init__: what it makes where no file of DeepSpeed's own is named.
Value deepspeed_of(TrainingKeys& keys) {
  if (const auto file = keys.text("deepspeed_config_file"); file && *file != "none") return *file;
  Value zero = Value::Map();
  zero.set("stage", keys.integer("zero_stage").value_or(2));
  for (const char* key : {"offload_optimizer", "offload_param"}) {
    Value offload = Value::Map();
    offload.set("device", keys.text(std::string(key) + "_device").value_or("none"));
    zero.set(key, offload);
  }
  Value config = Value::Map();
  config.set("zero_optimization", zero);
  const auto clipping = keys.real("gradient_clipping");
  config.set("gradient_clipping", clipping ? Value(*clipping) : Value("auto"));
  return config;
}

bool is_version_2(TrainingKeys& keys) {
  const Value* found = keys.find("version");
  return !found || lenient_integer(*found) == 2;
}

PolicyDtype policy_of(const TrainingArguments& arguments) {
  return arguments.bf16 ? PolicyDtype::bf16 : arguments.fp16 ? PolicyDtype::fp16 : PolicyDtype::none;
}

void read_version_1(TrainingKeys& keys, const TrainingArguments& arguments, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  Fsdp1Spec fsdp;
  std::string strategy = "FULL_SHARD";
  if (const Value* found = keys.find_any({"sharding_strategy", "reshard_after_forward"}))
    strategy = lenient_text(*found).value_or("");
  std::transform(strategy.begin(), strategy.end(), strategy.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  // torch.distributed.fsdp.ShardingStrategy's numbers, which accelerate's older files have
  if (strategy == "1" || strategy == "TRUE") strategy = "FULL_SHARD";
  if (strategy == "2" || strategy == "FALSE") strategy = "SHARD_GRAD_OP";
  if (strategy == "3" || strategy == "NO_SHARD") {
    keys.refuse("sharding_strategy", "FSDP without shards is not predicted", {"SHARD_GRAD_OP", Takes::less});
    strategy = "SHARD_GRAD_OP";
  }
  if (strategy == "4") strategy = "HYBRID_SHARD";
  if (strategy == "HYBRID_SHARD_ZERO2") strategy = "_HYBRID_SHARD_ZERO2";
  const auto* const name = std::find(kShardingStrategyNames.begin(), kShardingStrategyNames.end(), strategy);
  if (name == kShardingStrategyNames.end()) keys.refuse_now("sharding_strategy");
  fsdp.sharding_strategy = static_cast<ShardingStrategy>(name - kShardingStrategyNames.begin());
  fsdp.param_dtype = fsdp.reduce_dtype = policy_of(arguments);
  fsdp.transformer_layer_cls_to_wrap = keys.list("transformer_layer_cls_to_wrap");
  if (const Value* offload = keys.find_any({"offload_params", "cpu_offload"}); offload && !means_off(*offload))
    keys.refuse("offload_params", {}, {"false", Takes::more});
  keys.must_be_off({"forward_prefetch"}, Takes::less);
  keys.must_be("backward_prefetch", {"BACKWARD_PRE"}, Takes::more);
  spec.parallel = Parallel::fsdp1;
  spec.fsdp1 = fsdp;
}

void read_version_2(TrainingKeys& keys, const TrainingArguments& arguments, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  Fsdp2Spec fsdp;
  fsdp.reshard_after_forward = keys.boolean("reshard_after_forward").value_or(true) ? "true" : "false";
  fsdp.param_dtype = fsdp.reduce_dtype = policy_of(arguments);
  if (const Value* offload = keys.find_any({"offload_params", "cpu_offload"}); offload && !means_off(*offload))
    fsdp.offload_policy = Offload::cpu;
  fsdp.requires_gradient_sync = arguments.accumulation == 1;
  fsdp.transformer_layer_cls_to_wrap = keys.list("transformer_layer_cls_to_wrap");
  spec.autocast = Autocast::none;  // accelerator.py: _prepare_fsdp2 does not wrap the forward pass, prepare_model does
  spec.parallel = Parallel::fsdp2;
  spec.fsdp2 = fsdp;
}

}  // namespace

Value without_fsdp_prefix(const Value& map) {
  Value plain = Value::Map();
  if (!map.as_map()) fail_expected("a map", map, "fsdp_config");
  for (const Value::Item& item : *map.as_map())
    plain.set(item.key.starts_with("fsdp_") ? item.key.substr(5) : item.key, item.value);
  return plain;
}

void read_fsdp(TrainingKeys& config, const TrainingArguments& arguments, TrainingDraft& draft) {
  config.must_be("auto_wrap_policy", {"TRANSFORMER_BASED_WRAP", "NO_WRAP"}, Takes::either);
  const bool second = is_version_2(config);
  second ? read_version_2(config, arguments, draft) : read_version_1(config, arguments, draft);
  if (config.boolean("activation_checkpointing").value_or(false))
    config.refuse("activation_checkpointing", "torch's checkpoint_wrapper around layers is not predicted",
                  {"false, with gradient_checkpointing of the trainer", Takes::either});
  draft.spec.load = Load::wrapped;
  // In half precision what trains is cast to fp32 before it is cut: accelerator.py, prepare_model; fsdp_utils.py,
  // fsdp2_prepare_model (parallel/fsdp2.cpp)
  if (arguments.half() && !runs_as_trainer(draft.spec)) draft.spec.dtype = WeightDtype::fp32;
  if (config.boolean("cpu_ram_efficient_loading").value_or(false))
    draft.assume(
        "fsdp: weights are cut where they are loaded: cpu_ram_efficient_loading, which sends them, is not followed");
  config.must_be_off({"activation_cpu_offload"}, Takes::more);
  config.must_be_off({"min_num_params", "ignored_modules"}, Takes::either);
  config.must_be_off({"xla"});
  config.pass_over({"state_dict_type", "final_state_dict_type", "use_orig_params", "sync_module_states",
                    "limit_all_gathers", "xla_*", "cpu_offload_pin_memory", "mixed_precision_policy"});
  for (const std::string& key : config.unread()) draft.assume("fsdp: not read: " + key);
}

void read_accelerate(const Value& config, TrainingArguments& arguments, const std::string& where,
                     TrainingDraft& draft) {
  TrainingKeys keys(config, ValuePath(where), draft.refusals);
  const std::string type = keys.text("distributed_type").value_or("NO");
  arguments.processes = keys.integer("num_processes").value_or(1);
  // ACCELERATE_MIXED_PRECISION is what the trainer has where it says nothing: training_args.py, mixed_precision
  if (!arguments.half()) {
    keys.must_be("mixed_precision", {"bf16", "fp16"});
    const std::string precision = keys.text("mixed_precision").value_or("no");
    arguments.bf16 = precision == "bf16";
    arguments.fp16 = precision == "fp16";
  }
  TrainingKeys deepspeed = keys.map("deepspeed_config"), dynamo = keys.map("dynamo_config");
  dynamo.must_be_off({"dynamo_backend"}, Takes::either);
  if (type == "DEEPSPEED") {
    if (!arguments.deepspeed || means_off(*arguments.deepspeed)) arguments.deepspeed = deepspeed_of(deepspeed);
  } else if (type == "FSDP") {
    const Value* fsdp = keys.find("fsdp_config");
    arguments.fsdp = Value(true);
    Value its = without_fsdp_prefix(fsdp ? *fsdp : Value(Value::Map()));
    if (!its.find("version")) its.set("version", 1);
    arguments.fsdp_config = its;
  } else if (type != "NO" && type != "MULTI_GPU") {
    keys.refuse("distributed_type");
  }
  keys.must_be_off({"parallelism_config"}, Takes::more);
  keys.must_be_off({"fp8_config", "megatron_lm_config", "use_cpu", "tp_config"});
}

}  // namespace tidemark::io
