#include "io/training_write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "io/value_json.h"
#include "plan/plan.h"

namespace tidemark::io {
namespace {

const TrainingFormat& format_named(std::string_view name, const std::string& where = "--write") {
  std::vector<std::string> known;
  for (const TrainingFormat& format : training_formats()) {
    if (!format.write) continue;
    if (format.name == name) return format;
    known.emplace_back(format.name);
  }
  const std::string nearest = did_you_mean(name, known);
  throw Error(Errc::unknown_name, fmt::format("{} is no format that is written", Value(name).quoted()), where,
              nearest.empty() ? fmt::format("one of {}", fmt::join(known, ", ")) : nearest);
}

/// Without what no trainer's file is about, and with one name for what are two names for the same.
Spec comparable(Spec spec) {
  spec.model = {};
  if (spec.loop == LoopKind::sft_trainer) spec.loop = LoopKind::trainer;  // which of them is the file's to say
  if (spec.load != Load::wrapped) spec.load = Load::to;
  spec.gpu.clear(), spec.memory.clear(), spec.torch.clear(), spec.transformers.clear();
  spec.steps = 3;
  spec.rank = 0;
  spec.gpus_per_node = 0;
  spec.link = LinkKind::automatic;
  spec.moe_routing = "balanced";
  // torch.optim's own choice on a GPU (torch/optim/optimizer.py, _default_to_fused_or_foreach)
  if (spec.optimizer_impl == OptimizerImpl::foreach) spec.optimizer_impl = OptimizerImpl::automatic;
  if (is_zero(spec.parallel)) spec.optimizer_impl = OptimizerImpl::automatic;
  if (spec.attn == Attention::sdpa) spec.attn = Attention::automatic;
  if (spec.use_cache == UseCache::no) spec.use_cache = UseCache::automatic;
  if (spec.optimizer == OptimizerName::adamw) spec.weight_decay.reset();
  if (spec.parallel == Parallel::ddp && !spec.ddp) spec.ddp = DdpSpec{};
  if (spec.ddp && spec.grad_accumulation == 1) spec.ddp->no_sync = false;
  if (is_zero(spec.parallel) && !spec.zero) spec.zero = ZeroSpec{};
  if (spec.parallel == Parallel::fsdp2 && !spec.fsdp2) spec.fsdp2 = Fsdp2Spec{};
  if (spec.parallel == Parallel::fsdp1 && !spec.fsdp1) spec.fsdp1 = Fsdp1Spec{};
  if (spec.lora && spec.lora->adapter_dtype == AdapterDtype::automatic && spec.dtype != WeightDtype::fp32 &&
      !is_zero(spec.parallel))
    spec.lora->adapter_dtype = AdapterDtype::fp32;
  if (spec.quantization)
    spec.quantization->quant_storage = QuantStorage::uint8;  // as many bytes, whatever they are kept as
  if (spec.lora && is_zero(spec.parallel)) spec.lora->adapter_dtype = AdapterDtype::bf16;
  return spec;
}

void first_key(const Value& change, std::string& key, std::string& value) {
  const Value::Item& item = change.as_map()->front();
  key += key.empty() ? item.key : "." + item.key;
  if (item.value.as_map() && !item.value.as_map()->empty()) return first_key(item.value, key, value);
  value = item.value.quoted();
}

/// Keys of a spec that the files say otherwise than meant, with the meant values.
Value unsaid(const TrainingFormat& format, const TrainingAnswer& answer, const std::vector<WrittenFile>& files) {
  const TrainingFiles with{.read =
                               [&](const std::string& path) {
                                 for (const WrittenFile& file : files)
                                   if (file.path == path) return value_of_training_file(file.text, file.path);
                                 throw Error(Errc::not_found, "it is not written", path);
                               },
                           .model_config = [&](const std::string&) { return answer.model_config; },
                           .gpus = answer.spec.gpus,
                           .has_model = true};
  const Value keys = value_of_training_file(files.front().text, files.front().path);
  const TrainingConfig read = read_training_config(format, keys, files.front().path, with);
  return changes_of(comparable(read_spec(read.spec)), comparable(answer.spec));
}

void check_read_back(const TrainingFormat& format, const TrainingAnswer& answer,
                     const std::vector<WrittenFile>& files) {
  if (!format.read) return;
  const Value change = unsaid(format, answer, files);
  if (change.as_map()->empty()) return;
  std::string key, value;
  first_key(change, key, value);
  refuse_to_write(format.title, key, fmt::format("{} cannot be said in it", value));
}

/// Nothing where it cannot be written at all.
std::optional<Value> unsaid_of(const TrainingFormat& format, const Spec& spec, const Value& model_config) {
  try {
    const TrainingAnswer answer{.spec = spec, .model = "model", .model_config = model_config, .peak = {}, .card = {}};
    return unsaid(format, answer, format.write(answer, "train.yaml"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether each value of `part` stands in `whole`.
bool is_within(const Value& part, const Value& whole) {
  if (!part.as_map() || !whole.as_map()) return part == whole;
  return std::all_of(part.as_map()->begin(), part.as_map()->end(), [&](const Value::Item& item) {
    const Value* found = whole.find(item.key);
    return found && is_within(item.value, *found);
  });
}

/// The items of `to` that `from` has not.
Value new_items(const Value& from, const Value& to) {
  Value changed = Value::Map();
  for (const Value::Item& item : *to.as_map()) {
    const Value* before = from.as_map() ? from.find(item.key) : nullptr;
    if (!before)
      changed.set(item.key, item.value);
    else if (item.value.as_map() && before->as_map()) {
      if (Value inner = new_items(*before, item.value); !inner.as_map()->empty())
        changed.set(item.key, std::move(inner));
    } else if (!(*before == item.value)) {
      changed.set(item.key, item.value);
    }
  }
  return changed;
}

}  // namespace

void refuse_to_write(std::string_view title, const std::string& key, const std::string& why) {
  throw Error(Errc::unsupported, fmt::format("{}: {}", title, why), "--write: " + key,
              "keep what it can say with --fix, or write python");
}

Value beginning_of_written(std::string_view name, std::int64_t gpus) {
  const TrainingFormat& format = format_named(name);
  if (!format.begins_as.as_map()) return Value::Map();
  const TrainingFiles alone{.read = {}, .model_config = {}, .gpus = gpus, .has_model = true};
  return read_training_config(format, format.begins_as, std::string(name), alone).spec;
}

LoopKind loop_of_written(std::string_view format, const std::string& where) { return format_named(format, where).loop; }

plan::TrainedAs trained_as_written(std::string_view format, const std::string& where) {
  return format_named(format, where).as_trained;
}

std::vector<WrittenFile> write_training_files(std::string_view name, const TrainingAnswer& answer,
                                              const std::string& path) {
  const TrainingFormat& format = format_named(name);
  // accelerate looks for every class that the model's parts do not split, also of parts that it does not have
  // (utils/dataclasses.py (1.15.0), set_auto_wrap_policy): a LLaVA has no CLIPTextEmbeddings.
  const bool is_fsdp = answer.spec.parallel == Parallel::fsdp1 || answer.spec.parallel == Parallel::fsdp2;
  if (is_fsdp && answer.spec.images > 0 && format.loop != LoopKind::plain)
    refuse_to_write(format.title, "parallel",
                    "which classes of a model with a vision tower FSDP wraps has to be said in it");
  std::vector<WrittenFile> files = format.write(answer, path);
  check_read_back(format, answer, files);
  return files;
}

std::function<bool(const Spec&)> said_by_written(std::string_view name, const Spec& begin, const Value& model_config) {
  const TrainingFormat& format = format_named(name);
  const std::optional<Value> already = format.read ? unsaid_of(format, begin, model_config) : std::nullopt;
  if (!already) return {};
  return [&format, already = *already, model_config](const Spec& spec) {
    const std::optional<Value> change = unsaid_of(format, spec, model_config);
    return change && is_within(*change, already);
  };
}

std::string changed_keys(std::string_view name, const TrainingAnswer& from, const TrainingAnswer& to) {
  const TrainingFormat& format = format_named(name);
  std::string text;
  try {
    const std::vector<WrittenFile> before = format.write(from, "train.yaml"), after = format.write(to, "train.yaml");
    for (const WrittenFile& file : after) {
      const auto same =
          std::find_if(before.begin(), before.end(), [&](const auto& one) { return one.path == file.path; });
      const Value said = same == before.end() ? Value::Map() : value_of_training_file(same->text, same->path);
      const std::string keys = value_to_yaml(new_items(said, value_of_training_file(file.text, file.path)));
      const std::string ending = file.path.substr(std::string_view("train").size());
      if (!keys.empty()) text += (&file == &after.front() ? "" : "# in a file " + ending + "\n") + keys;
    }
  } catch (const Error&) {
    return {};
  }
  return text;
}

std::string value_to_yaml(const Value& map) {
  std::string text;
  const auto add = [&](auto& self, const Value& level, const std::string& indent) -> void {
    for (const Value::Item& item : *level.as_map()) {
      if (item.value.as_map() && !item.value.as_map()->empty()) {
        text += indent + item.key + ":\n";
        self(self, item.value, indent + "  ");
        continue;
      }
      std::string line = value_to_json_line(item.value);
      while (line.ends_with('\n')) line.pop_back();
      text += indent + item.key + ": " + line + "\n";
    }
  };
  add(add, map, "");
  return text;
}

std::string as_comment(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += "# " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

std::string heading_of(const TrainingAnswer& answer, std::string_view title) {
  return fmt::format("For {}, written by `tidemark plan`.\nPredicted peak: {} of {} x {}.\n", title, answer.peak,
                     answer.spec.gpus, answer.card);
}

std::string beside(const std::string& path, std::string_view ending) {
  const std::size_t slash = path.find_last_of('/'), dot = path.find_last_of('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  return path.substr(0, has_ending ? dot : path.size()) + std::string(ending);
}

std::string_view name_of_dtype(WeightDtype dtype) {
  constexpr std::array<std::string_view, 3> kNames{"bfloat16", "float16", "float32"};
  return kNames[static_cast<std::size_t>(dtype)];
}

namespace {

std::string optim_of(const Spec& spec) {
  if (spec.optimizer == OptimizerName::adamw)
    return spec.optimizer_impl == OptimizerImpl::fused ? "adamw_torch_fused" : "adamw_torch";
  if (spec.optimizer == OptimizerName::transformers_adafactor) return "adafactor";
  return std::string(kOptimizerNames[static_cast<std::size_t>(spec.optimizer)]);
}

Value fsdp2_config(const Fsdp2Spec& fsdp) {
  Value config = Value::Map();
  config.set("version", 2);
  if (fsdp.reshard_after_forward != "auto") config.set("reshard_after_forward", fsdp.reshard_after_forward == "true");
  if (fsdp.offload_policy == Offload::cpu) config.set("cpu_offload", true);
  config.set("auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  if (const auto& classes = fsdp.transformer_layer_cls_to_wrap; !classes.empty())
    config.set("transformer_layer_cls_to_wrap", Value::List(classes.begin(), classes.end()));
  return config;
}

void append_sharing(const Spec& spec, const std::string& deepspeed, Value& keys) {
  if (is_zero(spec.parallel)) keys.set("deepspeed", deepspeed);
  if (spec.parallel == Parallel::fsdp2) {
    keys.set("fsdp", true);
    keys.set("fsdp_config", fsdp2_config(spec.fsdp2.value_or(Fsdp2Spec{})));
  } else if (spec.parallel == Parallel::fsdp1) {
    keys.set("fsdp", true);
    const auto strategy = static_cast<std::size_t>(spec.fsdp1.value_or(Fsdp1Spec{}).sharding_strategy);
    keys.set("fsdp_config", Value::Map{{"version", 1},
                                       {"reshard_after_forward", kShardingStrategyNames[strategy]},
                                       {"backward_prefetch", "BACKWARD_PRE"},
                                       {"auto_wrap_policy", "TRANSFORMER_BASED_WRAP"}});
  } else if (spec.parallel == Parallel::ddp) {
    const DdpSpec ddp = spec.ddp.value_or(DdpSpec{});
    keys.set("ddp_find_unused_parameters", ddp.find_unused_parameters);
    keys.set("ddp_bucket_cap_mb", static_cast<std::int64_t>(ddp.bucket_cap_mb));
    keys.set("ddp_broadcast_buffers", ddp.broadcast_buffers);
    if (ddp.static_graph) keys.set("ddp_static_graph", true);
  }
}

}  // namespace

void append_training_arguments(const Spec& spec, const std::string& deepspeed, Value& keys) {
  keys.set("per_device_train_batch_size", spec.batch);
  keys.set("gradient_accumulation_steps", spec.grad_accumulation);
  // Under FSDP 2 mixed precision is its policy.
  const bool has_policy =
      spec.parallel == Parallel::fsdp2 && spec.fsdp2 && spec.fsdp2->param_dtype == PolicyDtype::bf16;
  keys.set("bf16", spec.autocast == Autocast::bf16 || has_policy || is_zero(spec.parallel));
  keys.set("fp16", spec.autocast == Autocast::fp16);
  keys.set("optim", optim_of(spec));
  if (spec.weight_decay) keys.set("weight_decay", *spec.weight_decay);
  if (spec.momentum > 0)
    keys.set("optim_args", fmt::format("momentum={}{}", spec.momentum, spec.nesterov ? ",nesterov=True" : ""));
  const ZeroSpec zero = spec.zero.value_or(ZeroSpec{});
  keys.set("max_grad_norm", is_zero(spec.parallel) ? zero.gradient_clipping : spec.max_grad_norm.value_or(0));
  keys.set("gradient_checkpointing", spec.checkpointing != Checkpointing::none);
  if (spec.checkpointing != Checkpointing::none) {
    Value how = Value::Map{{"use_reentrant", spec.checkpointing == Checkpointing::reentrant}};
    if (spec.checkpoint_every > 1) how.set("every_n_layers", spec.checkpoint_every);
    keys.set("gradient_checkpointing_kwargs", std::move(how));
  }
  append_sharing(spec, deepspeed, keys);
}

Value deepspeed_config(const Spec& spec) {
  if (!is_zero(spec.parallel)) return {};
  const ZeroSpec asked = spec.zero.value_or(ZeroSpec{});
  const std::int64_t stage = spec.parallel == Parallel::zero1 ? 1 : spec.parallel == Parallel::zero2 ? 2 : 3;
  Value zero = Value::Map{
      {"stage", stage},
      {"reduce_bucket_size", asked.reduce_bucket_size},
      {"contiguous_gradients", asked.contiguous_gradients},
      {"reduce_scatter", asked.reduce_scatter},
      {"offload_optimizer", Value::Map{{"device", kOffloadNames[static_cast<std::size_t>(asked.offload_optimizer)]}}}};
  if (asked.overlap_comm) zero.set("overlap_comm", *asked.overlap_comm);
  if (stage == 3) {
    zero.set("offload_param", Value::Map{{"device", kOffloadNames[static_cast<std::size_t>(asked.offload_param)]}});
    for (const auto& [key, value] :
         {std::pair{"sub_group_size", asked.sub_group_size},
          std::pair{"stage3_prefetch_bucket_size", asked.stage3_prefetch_bucket_size},
          std::pair{"stage3_param_persistence_threshold", asked.stage3_param_persistence_threshold},
          std::pair{"stage3_model_persistence_threshold", asked.stage3_model_persistence_threshold},
          std::pair{"stage3_max_live_parameters", asked.stage3_max_live_parameters},
          std::pair{"stage3_max_reuse_distance", asked.stage3_max_reuse_distance}})
      if (value) zero.set(key, *value);
  } else {
    zero.set("allgather_bucket_size", asked.allgather_bucket_size);
    zero.set("use_multi_rank_bucket_allreduce", asked.use_multi_rank_bucket_allreduce);
  }
  Value config = Value::Map();
  for (const char* key :
       {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping"})
    config.set(key, "auto");
  config.set("bf16", Value::Map{{"enabled", "auto"}});
  // Without an "optimizer" it is the Trainer's own, of torch.optim: AdamW of DeepSpeed's would be its FusedAdam, or on
  // the host its DeepSpeedCPUAdam (0.19.8: runtime/engine.py, _configure_basic_optimizer, _configure_zero_optimizer).
  if (asked.offload_optimizer != Offload::none) config.set("zero_force_ds_cpu_optimizer", false);
  config.set("zero_optimization", zero);
  return config;
}

Value accelerate_config(const Spec& spec) {
  const std::int64_t machines = spec.gpus_per_node > 0 ? spec.gpus / spec.gpus_per_node : 1;
  // What is on the host is reduced there, by a backend that is made where accelerate's own environment says so
  // (1.15.0: state.py, PartialState).
  const bool has_offload = spec.parallel == Parallel::fsdp2 && spec.fsdp2 && spec.fsdp2->offload_policy == Offload::cpu;
  Value config = Value::Map{{"compute_environment", "LOCAL_MACHINE"},
                            {"distributed_type", has_offload     ? "FSDP"
                                                 : spec.gpus > 1 ? "MULTI_GPU"
                                                                 : "NO"},
                            {"mixed_precision", "no"},
                            {"num_machines", machines},
                            {"num_processes", spec.gpus},
                            {"machine_rank", 0},
                            {"main_training_function", "main"},
                            {"use_cpu", false}};
  if (has_offload)
    config.set("fsdp_config", Value::Map{{"fsdp_version", 2},
                                         {"fsdp_offload_params", true},
                                         {"fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP"}});
  return config;
}

}  // namespace tidemark::io
