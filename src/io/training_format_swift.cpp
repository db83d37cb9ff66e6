// ms-swift's `swift sft`, as YAML, JSON or a command line: swift/arguments/{sft,tuner}_args.py, base_args/*.py,
// swift/trainers/arguments.py (4.0, August 2026).
#include <fmt/format.h>

#include <algorithm>

#include "io/training_arguments.h"
#include "io/training_quantization.h"
#include "io/training_towers.h"
#include "io/training_write.h"
#include "io/value_json.h"

namespace tidemark::io::training_format_swift {
namespace {

void refuse_methods(TrainingKeys& keys) {
  // clang-format off: several to a line
  keys.must_be_off({"use_galore", "galore_quantization", "lisa_activated_layers"}, Takes::more);
  keys.must_be_off({"modules_to_save", "trainable_parameters", "trainable_parameters_regex",
                    "enable_dft_loss", "enable_channel_loss", "new_special_tokens"}, Takes::less);
  keys.must_be_off({"target_parameters", "target_regex", "freeze_parameters_ratio", "freeze_parameters_regex",
                    "adapters", "zero_hpz_partition_size", "optimizer", "loss_type"}, Takes::either);
  keys.must_be_off({"max_memory", "num_labels", "rlhf_type", "reward_model", "deepspeed_autotp_size",
                    "use_swift_lora", "reft_args"});
  // clang-format on
  keys.must_be("sequence_parallel_size", {"1"}, Takes::more);
  keys.must_be("tuner_backend", {"peft"}, Takes::more);
  keys.must_be("lora_bias", {"none"}, Takes::less);
  keys.must_be("task_type", {"causal_lm"});
  keys.must_be("acc_strategy", {"token", "seq"});
}

void read_tuner(TrainingKeys& keys, TrainingDraft& draft) {
  const Value* type = keys.find_any({"tuner_type", "train_type", "sft_type"});
  const std::string tuner = type ? lenient_text(*type).value_or("") : "lora";
  if (tuner == "full") {
    keys.pass_over({"lora_*", "target_modules"});
    draft.spec.freeze = keys.list("freeze_parameters");
    return;
  }
  if (tuner != "lora")
    keys.refuse(keys.find("tuner_type")   ? "tuner_type"
                : keys.find("train_type") ? "train_type"
                                          : "sft_type",
                {}, tuner == "lora_llm" ? Nearest{"lora", Takes::less} : Nearest{});
  std::vector<std::string> targets = keys.list("target_modules");
  const bool all = targets.empty() || (targets.size() == 1 && targets[0] == "all-linear");
  if (!all &&
      std::any_of(targets.begin(), targets.end(), [](const std::string& name) { return name.starts_with("all-"); }))
    keys.refuse("target_modules", {}, {"all-linear", Takes::either});
  set_lora(draft, keys.integer("lora_rank").value_or(8), keys.real("lora_alpha").value_or(32),
           keys.real("lora_dropout").value_or(0.05), all ? TextOrList("all-linear") : TextOrList(std::move(targets)));
  if (const auto dtype = keys.text("lora_dtype"); dtype && *dtype != "none" && *dtype != "None") {
    const auto known = weight_dtype(*dtype);
    if (!known) keys.refuse_now("lora_dtype");
    constexpr AdapterDtype kTypes[] = {AdapterDtype::bf16, AdapterDtype::fp16, AdapterDtype::fp32};
    draft.spec.lora->adapter_dtype = kTypes[static_cast<int>(*known)];
  }
  keys.pass_over({"use_rslora", "lorap_lr_ratio", "init_weights", "lora_ga_*", "freeze_parameters"});
}

/// base_args/quant_args.py, QuantizeArguments
void read_quantization(TrainingKeys& keys, TrainingDraft& draft) {
  const Value* method = keys.find("quant_method");
  keys.must_be("quant_method", {"bnb"}, Takes::either);
  keys.must_be("quant_bits", {"4", "8"}, Takes::either);
  if (!method || means_off(*method)) return keys.pass_over({"bnb_4bit_*"});
  const Value& config = draft.model_config();
  for (const char* key : {"vision_config", "num_experts", "num_local_experts", "n_routed_experts"})
    if (config.find(key))
      keys.refuse_now("quant_method",
                      "which modules of a model with images or experts swift does not quantize is not known here");
  if (keys.integer("quant_bits") == 8) {
    set_quantization(keys, "quant_method", in_8bits(), draft);
    return keys.pass_over({"bnb_4bit_*"});
  }
  const auto computes = keys.text("bnb_4bit_compute_dtype");
  const auto named = computes ? weight_dtype(*computes) : std::nullopt;
  if (computes && !named) keys.refuse("bnb_4bit_compute_dtype", {}, {"bfloat16", Takes::either});
  const bool is_bf16 = draft.spec.dtype == WeightDtype::bf16;
  set_quantization(keys, "quant_method",
                   {.quant_type = read_quant_type(keys, "bnb_4bit_quant_type"),
                    .use_double_quant = keys.boolean("bnb_4bit_use_double_quant").value_or(true),
                    .compute_dtype = named.value_or(is_bf16 ? WeightDtype::bf16 : WeightDtype::fp32),
                    .quant_storage = read_quant_storage(keys, "bnb_4bit_quant_storage"),
                    .skip_modules = {}},
                   draft);
}

/// The parts of a model with images that swift freezes by default (swift/model/model_arch.py).
void read_towers(TrainingKeys& keys, TrainingDraft& draft) {
  const FrozenTowers frozen{.vision = keys.boolean("freeze_vit").value_or(true),
                            .projector = keys.boolean("freeze_aligner").value_or(true),
                            .language = keys.boolean("freeze_llm").value_or(false)};
  if (!has_images(draft)) return;
  if (!draft.spec.lora) return freeze_towers(frozen, draft.spec);
  if (frozen.language)
    keys.refuse("freeze_llm", "adapters beside a language model without them are not predicted",
                {"false", Takes::more});
  keep_targets_in_language(keys, "freeze_vit", frozen, draft);
}

/// swift/config/zero*.json, which --deepspeed names.
std::optional<Value> shipped_deepspeed(const std::string& name) {
  if (!name.starts_with("zero") || name.size() < 5 || name[4] < '1' || name[4] > '3') return std::nullopt;
  const std::string rest = name.substr(5);
  if (!rest.empty() && rest != "_offload") return std::nullopt;
  const std::int64_t stage = name[4] - '0';
  const Value device = Value::Map{{"device", rest.empty() ? "none" : "cpu"}};
  Value zero = Value::Map{
      {"stage", stage}, {"overlap_comm", false}, {"contiguous_gradients", true}, {"offload_optimizer", device}};
  if (stage == 3) {
    zero.set("offload_param", device);
    zero.set("sub_group_size", 1e9);
    for (const char* key : {"reduce_bucket_size", "stage3_prefetch_bucket_size", "stage3_param_persistence_threshold"})
      zero.set(key, "auto");
    zero.set("stage3_max_live_parameters", 1e9);
    zero.set("stage3_max_reuse_distance", 1e9);
  } else {
    zero.set("allgather_bucket_size", 2e8);
    zero.set("reduce_bucket_size", 2e8);
    zero.set("reduce_scatter", true);
  }
  return Value(Value::Map{
      {"bf16", Value::Map{{"enabled", "auto"}}}, {"zero_optimization", zero}, {"gradient_clipping", "auto"}});
}

void read_step(TrainingKeys& keys, TrainingArguments& arguments, TrainingDraft& draft) {
  arguments.batch = 1;
  arguments.accumulation = 0;
  arguments.checkpointing = true;
  arguments.weight_decay = 0.1;
  draft.reads_image_limits = true;  // by qwen_vl_utils and its own templates (swift/template/templates)
  read_training_arguments(keys, arguments, draft);
  if (!keys.boolean("bf16") && !keys.boolean("fp16")) {
    // base_args/model_args.py, _init_mixed_precision
    arguments.bf16 = draft.spec.dtype == WeightDtype::bf16;
    arguments.fp16 = !arguments.bf16;
  }
  if (arguments.deepspeed && arguments.deepspeed->as_text())
    if (const auto shipped = shipped_deepspeed(*arguments.deepspeed->as_text())) arguments.deepspeed = *shipped;
  if (const Value* fsdp = keys.find("fsdp"); fsdp && !means_off(*fsdp)) {
    keys.refuse("fsdp", "FSDP by swift's own files is not predicted", {"DDP", Takes::more});
    arguments.fsdp.reset();
  }
  const std::int64_t world = std::max<std::int64_t>({draft.files.gpus, arguments.processes, 1});
  const std::int64_t samples = std::max<std::int64_t>(arguments.batch, 1) * world;
  if (arguments.accumulation == 0) arguments.accumulation = std::max<std::int64_t>(1, (16 + samples - 1) / samples);
  // trainers/mixin.py, _fix_gradient_checkpointing
  arguments.reentrant = keys.map("gradient_checkpointing_kwargs").boolean("use_reentrant").value_or(true);
}

void read(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingArguments arguments;
  refuse_methods(keys);
  draft.model = keys.text("model").value_or("");
  const Value* dtype = keys.find_any({"torch_dtype", "dtype"});
  const std::string type = dtype ? lenient_text(*dtype).value_or("") : "auto";
  const auto known = weight_dtype(type);
  if (!known && type != "auto") keys.refuse_now(keys.find("torch_dtype") ? "torch_dtype" : "dtype");
  draft.spec.dtype = known ? *known : dtype_of_config(draft);
  read_step(keys, arguments, draft);
  read_attention(keys, "attn_impl", draft);
  read_packing(keys, "packing", draft);
  if (!keys.boolean("packing").value_or(false)) read_packing(keys, "padding_free", draft);
  read_tuner(keys, draft);
  read_quantization(keys, draft);
  read_towers(keys, draft);
  if (const auto pixels = keys.integer("max_pixels")) take_image_limit("max_pixels", *pixels, draft);
  apply_training_arguments(keys, arguments, draft);
  read_dora(keys, "use_dora", draft);
  draft.spec = loaded_onto_its_device(std::move(draft.spec));  // model/utils.py, get_default_device_map
  draft.take_length("max_length", keys.integer("max_length").value_or(0));
  draft.assume("every token of a sample has a label: swift computes no logits for others (use_logits_to_keep)");
  // clang-format off: several to a line
  keys.pass_over({"dataset*", "vit_lr", "aligner_lr", "val_dataset", "split_dataset_ratio", "cached_*", "streaming", "interleave_prob",
                  "stopping_strategy", "shuffle_*", "train_dataloader_shuffle", "model_type", "model_revision",
                  "model_author", "model_name", "use_hf", "hub_*", "custom_*", "external_plugins", "strict", "system", "template*",
                  "truncation_strategy", "norm_bbox", "agent_template", "response_prefix", "loss_scale", "add_version",
                  "create_checkpoint_symlink", "load_args", "load_data_args", "local_repo_path", "init_strategy",
                  "problem_type", "device_map", "max_model_len", "lazy_tokenize", "load_from_cache_file",
                  "vit_gradient_checkpointing", "use_logits_to_keep", "router_aux_loss_coef", "galore_*",
                  "hqq_axis", "check_model", "metric", "callbacks", "early_stop_interval", "max_epochs", "swanlab_*",
                  "use_chat_template", "padding_side", "remove_unused_columns", "enable_thinking",
                  "preserve_thinking", "add_non_thinking_prefix", "use_ray", "device_groups", "max_new_tokens", "temperature", "lisa_step_interval",
                  "resume_only_model", "safe_serialization", "max_shard_size", "ddp_timeout", "packing_*", "columns", "rope_scaling",
                  "remap", "experts_impl", "llamapro_*", "adalora_*", "vera_*", "boft_*"});
  // clang-format on
}

std::vector<WrittenFile> write(const TrainingAnswer& answer, const std::string& path) {
  const Spec& spec = answer.spec;
  const std::string deepspeed = beside(path, ".deepspeed.json");
  Value keys = Value::Map{{"model", answer.model},
                          {"tuner_type", spec.lora ? "lora" : "full"},
                          {"torch_dtype", name_of_dtype(spec.dtype)},
                          {"max_length", spec.seq},
                          {"output_dir", "output"}};
  if (spec.attn == Attention::eager) keys.set("attn_impl", "eager");
  append_training_arguments(spec, deepspeed, keys);
  if (!spec.freeze.empty()) keys.set("freeze_parameters", Value::List(spec.freeze.begin(), spec.freeze.end()));
  if (spec.lora) {
    keys.set("lora_rank", spec.lora->r);
    keys.set("lora_alpha", static_cast<std::int64_t>(spec.lora->alpha));
    keys.set("lora_dropout", spec.lora->dropout);
    if (spec.lora->use_dora) keys.set("use_dora", true);
    if (const auto* list = std::get_if<std::vector<std::string>>(&spec.lora->target_modules))
      keys.set("target_modules", Value::List(list->begin(), list->end()));
    else
      keys.set("target_modules", Value::List{Value(std::get<std::string>(spec.lora->target_modules))});
  }
  if (spec.quantization) {
    keys.set("quant_method", "bnb");
    keys.set("quant_bits", spec.quantization->load_in_8bit ? 8 : 4);
  }
  if (spec.quantization && !spec.quantization->load_in_8bit) {
    keys.set("bnb_4bit_compute_dtype", name_of_dtype(spec.quantization->compute_dtype));
    keys.set("bnb_4bit_quant_type", kQuantTypeNames[static_cast<std::size_t>(spec.quantization->quant_type)]);
    keys.set("bnb_4bit_use_double_quant", spec.quantization->use_double_quant);
  }
  const std::string start = fmt::format("NPROC_PER_NODE={} swift sft {} --dataset DATASET\n",
                                        spec.gpus_per_node > 0 ? spec.gpus_per_node : spec.gpus, path);
  std::vector<WrittenFile> files{{path, as_comment(heading_of(answer, "ms-swift") + start) + value_to_yaml(keys)}};
  if (is_zero(spec.parallel)) files.push_back({deepspeed, value_to_json(deepspeed_config(spec))});
  return files;
}

}  // namespace

TrainingFormat format() {
  return {.name = "swift",
          .title = "ms-swift",
          .version = "4.0",
          .signs = {"tuner_type", "train_type", "split_dataset_ratio", "target_modules", "attn_impl", "max_length",
                    "model_author", "model_name", "system", "quant_bits", "quant_method", "freeze_vit",
                    "load_from_cache_file", "lora_rank", "truncation_strategy"},
          .model_key = "model",
          .as_trained = loaded_onto_its_device,
          .read = read,
          .write = write};
}

}  // namespace tidemark::io::training_format_swift
