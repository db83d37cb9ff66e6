// axolotl's YAML: src/axolotl/utils/schemas/{config,model,peft,training,fsdp}.py (0.19, July 2026).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/release.h"
#include "io/training_arguments.h"
#include "io/training_launch.h"
#include "io/training_quantization.h"
#include "io/training_write.h"
#include "io/value_json.h"

namespace tidemark::io::training_format_axolotl {
namespace {

/// Which it turns on by itself where none is said (schemas/config.py, check_auto_enable_lora_kernels).
constexpr std::array<const char*, 4> kAdapterKernels{"lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel",
                                                     "lora_embedding_kernel"};

/// Each changes what is kept: integrations/liger and cut_cross_entropy less, by the keys that are read besides.
void refuse_plugins(TrainingKeys& keys) {
  for (const std::string& plugin : keys.list("plugins"))
    if (plugin.find("LigerPlugin") == std::string::npos)
      keys.refuse("plugins", fmt::format("{} decides memory, and is not predicted", Value(plugin).quoted()),
                  {"none of it", plugin.find("CutCrossEntropy") != std::string::npos ? Takes::more : Takes::either});
}

void refuse_methods(TrainingKeys& keys) {
  // clang-format off: several to a line
  keys.must_be_off({"liger_rope", "liger_rms_norm", "liger_layer_norm", "liger_glu_activation", "liger_cross_entropy",
                    "liger_fused_linear_cross_entropy", "chunked_cross_entropy", "cut_cross_entropy", "tiled_mlp",
                    "flash_attn_cross_entropy", "flash_attn_fuse_mlp", "lora_mlp_kernel", "lora_qkv_kernel",
                    "lora_o_kernel", "lora_embedding_kernel", "fused_attn_kernel", "unsloth_cross_entropy_loss",
                    "unsloth_lora_mlp", "unsloth_lora_qkv", "unsloth_lora_o", "activation_offloading",
                    "layer_offloading", "lora_on_cpu", "fp8", "quantize_moe_experts", "use_onebitllms",
                    "optim_target_modules"}, Takes::more);
  keys.must_be_off({"lora_modules_to_save", "lora_target_parameters", "peft_trainable_token_indices",
                    "neftune_noise_alpha", "noisy_embedding_alpha", "tokens",
                    "liger_use_token_scaling", "use_eaft", "fp32_norms", "qat"}, Takes::less);
  keys.must_be_off({"batch_flattening", "selective_checkpointing", "dynamic_checkpoint", "s2_attention", "torch_compile",
                    "torch_empty_cache_steps", "auto_find_batch_size", "use_kernels", "scaling_softmax", "deepcompile",
                    "lora_model_dir", "relora", "relora_steps", "lora_rank_pattern", "peft_layers_to_transform",
                    "peft_layer_replication", "reinit_weights", "llama4_linearized_experts", "use_pose"},
                   Takes::either);
  keys.must_be_off({"gptq", "bnb_config_kwargs", "model_quantization_config", "quantization", "freeze_mm_modules", "rl",
                    "reward_model", "process_reward_model", "trl", "vllm", "ebft", "diffusion"});
  // clang-format on
  if (!keys.text("adapter")) keys.must_be_off({"unfrozen_parameters"});  // PEFT freezes all the same
  for (const char* key : {"sequence_parallel_degree", "context_parallel_size", "tensor_parallel_size"})
    keys.must_be(key, {"1"}, Takes::more);
  keys.must_be("dp_replicate_size", {"1"}, Takes::either);
  refuse_plugins(keys);
}

/// loaders/model.py, _resize_token_embeddings: a vocabulary of 32 times as many tokens is left as it is.
void check_vocabulary(TrainingKeys& keys, TrainingDraft& draft) {
  if (!keys.boolean("resize_token_embeddings_to_32x").value_or(false)) return;
  const Value* tokens = draft.model_config().find("vocab_size");
  if (!tokens || !tokens->as_integer() || *tokens->as_integer() % 32 != 0)
    keys.refuse("resize_token_embeddings_to_32x", "a vocabulary that grows is not predicted", {"false", Takes::less});
}

/// utils/config/__init__.py, resolve_dtype; "auto" is bf16 on the cards that have it.
WeightDtype read_precision(TrainingKeys& keys, TrainingArguments& arguments) {
  const Value* bf16 = keys.find("bf16");
  const bool is_auto = !bf16 || (bf16->as_text() && *bf16->as_text() == "auto");
  const bool full = bf16 && bf16->as_text() && *bf16->as_text() == "full";
  const bool fp16 = keys.boolean("fp16").value_or(false);
  const bool pure_bf16 = keys.boolean("bfloat16").value_or(false);
  const bool is_bf16 = full || pure_bf16 || (is_auto ? !fp16 : lenient_boolean(*bf16).value_or(false));
  arguments.bf16 = is_bf16 && !full;
  arguments.fp16 = fp16 && !is_bf16;
  if (is_bf16) return WeightDtype::bf16;
  return fp16 || keys.boolean("float16").value_or(false) ? WeightDtype::fp16 : WeightDtype::fp32;
}

/// One string is a pattern for whole names, as PEFT takes it; a list has the ends of names.
std::vector<std::string> targets_of(TrainingKeys& keys) {
  const Value* found = keys.find("lora_target_modules");
  if (found && found->as_text() && found->as_text()->find_first_of("(|*[") != std::string::npos)
    return {*found->as_text()};
  return keys.list("lora_target_modules");
}

bool is_pattern(const std::vector<std::string>& targets) {
  return targets.size() == 1 && targets[0].find_first_of("(|*[") != std::string::npos;
}

void read_adapter(TrainingKeys& keys, TrainingDraft& draft) {
  const auto adapter = keys.text("adapter");
  if (!adapter) {
    keys.pass_over({"lora_*"});
    return;
  }
  if (*adapter != "lora" && *adapter != "qlora") keys.refuse_now("adapter", {}, "lora and qlora are");
  std::vector<std::string> targets = targets_of(keys);
  const bool linear =
      keys.boolean("lora_target_linear").value_or(false) || (targets.size() == 1 && targets[0] == "all-linear");
  if (targets.empty() && !linear)
    keys.refuse_now("adapter", "neither lora_target_modules nor lora_target_linear says where adapters go");
  const auto r = keys.integer("lora_r");
  if (!r) keys.refuse_now("adapter", "lora_r, the rank of the adapters, is missing");
  set_lora(draft, *r, keys.real("lora_alpha").value_or(static_cast<double>(*r)), keys.real("lora_dropout").value_or(0),
           is_pattern(targets) ? TextOrList(targets[0])
           : linear            ? TextOrList("all-linear")
                               : TextOrList(std::move(targets)));
  if (!keys.boolean("peft_autocast_adapter_dtype").value_or(true)) draft.spec.lora->adapter_dtype = AdapterDtype::bf16;
  if (std::none_of(kAdapterKernels.begin(), kAdapterKernels.end(),
                   [&](const char* key) { return keys.find(key) != nullptr; }))
    draft.assume("axolotl's own kernels for adapters, which it may turn on, are off: they keep less");
  keys.pass_over({"peft_use_rslora", "lora_fan_in_fan_out", "peft_init_lora_weights", "loraplus_*", "peft"});
}

/// loaders/model.py, _set_quantization_config.  What prepare_model_for_kbit_training makes fp32 of embeddings, norms
/// and the head is cast back where adapters train (_configure_embedding_dtypes); of models with images more would stay
/// so.
void read_quantization(TrainingKeys& keys, TrainingDraft& draft) {
  const bool is_qlora = keys.text("adapter").value_or("") == "qlora";
  const bool in_4bit = keys.boolean("load_in_4bit").value_or(false),
             in_8bit = keys.boolean("load_in_8bit").value_or(false);
  if (is_qlora != in_4bit) keys.refuse_now("load_in_4bit", "it goes with adapter: qlora");
  if (in_8bit && in_4bit) keys.refuse_now("load_in_8bit", "it goes with adapter: lora");
  if (!in_4bit && !in_8bit) return;
  const char* bits = in_8bit ? "load_in_8bit" : "load_in_4bit";
  if (draft.model_config().find("vision_config"))
    keys.refuse(bits, "axolotl leaves parts of a model with images in fp32, which is not predicted",
                {"true, with all in bf16", Takes::less});
  if (in_8bit) return set_quantization(keys, bits, in_8bits(), draft);
  set_quantization(keys, "load_in_4bit",
                   {.quant_type = QuantType::nf4,
                    .use_double_quant = true,
                    .compute_dtype = draft.spec.dtype,
                    .quant_storage = QuantStorage::bf16,
                    .skip_modules = {}},
                   draft);
}

/// One that is not sdpa or eager is another library's; none: transformers' choice.
void read_attentions(TrainingKeys& keys, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  read_attention(keys, "attn_implementation", draft);
  if (keys.boolean("flash_attention").value_or(false)) {
    spec.attn = Attention::sdpa;
    draft.flash_attention = "flash_attention";
  }
  for (const char* key : {"xformers_attention", "flex_attention", "sage_attention"})
    if (keys.boolean(key).value_or(false)) {
      spec.attn = Attention::sdpa;
      keys.refuse(key, "attention of this library is not predicted", {"false, with sdp_attention", Takes::either});
    }
  if (keys.boolean("sdp_attention").value_or(false)) spec.attn = Attention::sdpa;
  if (keys.boolean("eager_attention").value_or(false)) spec.attn = Attention::eager;
}

void read_step(TrainingKeys& keys, TrainingArguments& arguments) {
  arguments.batch = keys.integer("micro_batch_size").value_or(1);
  if (const auto steps = keys.integer("gradient_accumulation_steps"))
    arguments.accumulation = *steps;
  else if (const auto batch = keys.integer("batch_size"); batch && arguments.batch > 0)
    arguments.accumulation = std::max<std::int64_t>(1, *batch / arguments.batch);
  arguments.optim_key = "optimizer";
  arguments.optim = keys.text("optimizer").value_or("adamw_torch_fused");
  arguments.max_grad_norm = keys.real("max_grad_norm").value_or(1);
  const Value* checkpointing = keys.find("gradient_checkpointing");
  const auto checkpoints = checkpointing ? lenient_boolean(*checkpointing) : false;
  if (!checkpoints)
    keys.refuse("gradient_checkpointing", "checkpoints that are moved to the host are not predicted",
                {"true", Takes::more});
  arguments.checkpointing = checkpoints.value_or(true);
}

/// axolotl casts embeddings, the head and norms to fp32 before a full fine-tuning (loaders/model.py,
/// _configure_embedding_dtypes), and back where adapters train or FSDP cuts them: what is of two types is not
/// predicted.
void check_types(TrainingKeys& keys, const TrainingDraft& draft) {
  const Spec& spec = draft.spec;
  const bool is_cast_back =
      spec.lora || spec.parallel == Parallel::fsdp1 || spec.parallel == Parallel::fsdp2 || is_zero(spec.parallel);
  if (spec.dtype != WeightDtype::fp32 && !is_cast_back)
    keys.refuse(
        "base_model",
        "axolotl trains embeddings, norms and the head in fp32 beside half-precision layers, which is not predicted",
        {"all of it in half precision", Takes::less},
        "with adapter: lora, with deepspeed, with fsdp, or with bf16: false it is");
}

/// utils/__init__.py, set_pytorch_cuda_alloc_conf; loaders/adapter.py, load_adapter.  utils/config/__init__.py,
/// choose_device: under `accelerate launch` there is no device_map, so that the Trainer moves the model, adapters and
/// all; what is quantized is so on its device.
Spec as_trained(Spec spec) {
  const std::optional<Release> torch = release_of(spec.torch);
  if (spec.allocator.empty())
    spec.allocator = torch && *torch < Release{2, 9} ? "expandable_segments:True,roundup_power2_divisions:16"
                                                     : "expandable_segments:True";
  spec.input_require_grads = spec.lora.has_value();
  if (spec.quantization) return loaded_onto_its_device(std::move(spec));
  if (spec.lora && runs_whole_model(spec)) spec.load = Load::adapted;
  return spec;
}

void read(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingArguments arguments;
  draft.model = keys.text("base_model").value_or("");
  refuse_methods(keys);
  check_vocabulary(keys, draft);
  read_launch(keys, arguments, draft);
  read_step(keys, arguments);
  draft.spec.dtype = read_precision(keys, arguments);
  read_checkpointing_kwargs(keys.map("gradient_checkpointing_kwargs"), arguments);
  if (const Value* found = keys.find("deepspeed")) arguments.deepspeed = *found;
  const Value *fsdp = keys.find("fsdp"), *fsdp_config = keys.find("fsdp_config");
  if (fsdp_config && !means_off(*fsdp_config)) {
    arguments.fsdp = fsdp ? *fsdp : Value(true);
    arguments.fsdp_config = *fsdp_config;
    const bool has_version =
        fsdp_config->as_map() && (fsdp_config->find("fsdp_version") || fsdp_config->find("version"));
    const auto version = keys.integer("fsdp_version");  // validation.py, _resolve_fsdp_version: else the first
    if (version || !has_version) arguments.fsdp_config->set("version", version.value_or(1));
  } else if (fsdp) {
    arguments.fsdp = *fsdp;
  }
  read_adapter(keys, draft);
  read_quantization(keys, draft);
  read_attentions(keys, draft);
  read_packing(keys, "sample_packing", draft);
  arguments.find_unused_parameters = keys.boolean("ddp_find_unused_parameters");
  arguments.weight_decay = keys.real("weight_decay").value_or(0);
  apply_training_arguments(keys, arguments, draft);
  read_dora(keys, "peft_use_dora", draft);
  draft.spec = as_trained(std::move(draft.spec));
  check_types(keys, draft);
  draft.take_length("sequence_len", keys.integer("sequence_len").value_or(512));
  // clang-format off: several to a line
  keys.pass_over({"strict", "base_model_*", "model_type", "tokenizer_*", "processor_*", "trust_remote_code", "datasets",
                  "test_datasets", "dataset_*", "shuffle_*", "chat_template*", "val_set_size", "output_dir", "hub_*",
                  "push_*", "hf_use_auth_token", "wandb_*", "mlflow_*", "comet_*", "use_wandb", "use_mlflow",
                  "use_comet", "use_tensorboard", "use_trackio", "lr_*", "learning_rate", "cosine_*", "warmup_*",
                  "logging_*", "eval_*", "evals_per_epoch", "save_*", "saves_per_epoch", "num_epochs", "max_steps",
                  "train_on_inputs", "group_by_length", "tf32", "special_tokens", "resume_from_checkpoint",
                  "auto_resume_from_checkpoints", "local_rank", "weight_decay", "adam_*", "early_stopping_patience",
                  "seed", "ddp*", "debug", "pad_to_sequence_len", "eval_sample_packing", "sample_packing_*",
                  "dataloader_*", "include_tokens_per_second", "embeddings_skip_upcast", "is_*_derived_model",
                  "eot_tokens", "default_system_message", "roles*", "field_*", "type", "gc_steps", "low_cpu_mem_usage",
                  "experts_implementation", "profiler_*", "loss_watchdog_*", "remove_unused_columns", "fsdp_*",
                  "excess_length_strategy", "min_sample_len", "merge_*", "generate_samples", "generation_*", "use_ray",
                  "ray_*", "world_size", "device", "device_map", "dp_shard_size", "pad_to_multiple_of", "load_best_model_at_end",
                  "metric_for_best_model", "greater_is_better", "eval_table_size", "processor_type", "skip_prepare_dataset", "eval_max_new_tokens",
                  "eval_causal_lm_metrics", "do_causal_lm_eval", "image_resize_algorithm",
                  "tokenizer", "overrides_of_*"});
  // clang-format on
}

std::vector<WrittenFile> write(const TrainingAnswer& answer, const std::string& path) {
  const Spec& spec = answer.spec;
  const std::string deepspeed = beside(path, ".deepspeed.json");
  Value arguments = Value::Map();
  append_training_arguments(spec, deepspeed, arguments);
  Value keys = Value::Map{{"base_model", answer.model},
                          {"sequence_len", spec.seq},
                          {"micro_batch_size", spec.batch},
                          {"gradient_accumulation_steps", spec.grad_accumulation},
                          {"optimizer", *arguments.find("optim")},
                          {"max_grad_norm", *arguments.find("max_grad_norm")}};
  for (const char* key :
       {"fp16", "weight_decay", "gradient_checkpointing", "gradient_checkpointing_kwargs", "deepspeed", "fsdp_config",
        "ddp_find_unused_parameters", "ddp_bucket_cap_mb", "ddp_broadcast_buffers"})
    if (const Value* found = arguments.find(key)) keys.set(key, *found);
  const bool is_full = spec.dtype == WeightDtype::bf16 && spec.autocast == Autocast::none && !is_zero(spec.parallel);
  keys.set("bf16", is_full ? Value("full") : *arguments.find("bf16"));
  if (spec.attn == Attention::eager) keys.set("attn_implementation", "eager");
  if (spec.lora) {
    const bool in_8bit = spec.quantization && spec.quantization->load_in_8bit;
    keys.set("adapter", spec.quantization && !in_8bit ? "qlora" : "lora");
    if (spec.quantization) keys.set(in_8bit ? "load_in_8bit" : "load_in_4bit", true);
    for (const char* kernel : kAdapterKernels) keys.set(kernel, false);
    keys.set("lora_r", spec.lora->r);
    keys.set("lora_alpha", static_cast<std::int64_t>(spec.lora->alpha));
    keys.set("lora_dropout", spec.lora->dropout);
    if (spec.lora->use_dora) keys.set("peft_use_dora", true);
    if (const auto* list = std::get_if<std::vector<std::string>>(&spec.lora->target_modules))
      keys.set("lora_target_modules", Value::List(list->begin(), list->end()));
    else
      keys.set("lora_target_linear", std::get<std::string>(spec.lora->target_modules) == "all-linear");
  }
  std::vector<WrittenFile> files{
      {path, as_comment(heading_of(answer, "axolotl") + "axolotl train " + path + " (with your datasets: in it)\n") +
                 value_to_yaml(keys)}};
  if (is_zero(spec.parallel)) files.push_back({deepspeed, value_to_json(deepspeed_config(spec))});
  return files;
}

}  // namespace

TrainingFormat format() {
  return {.name = "axolotl",
          .title = "axolotl",
          .version = "0.19",
          .signs = {"base_model", "sequence_len", "micro_batch_size", "sample_packing", "val_set_size", "adapter",
                    "datasets", "num_epochs", "lora_target_linear", "dataset_prepared_path", "special_tokens",
                    "pad_to_sequence_len", "wandb_project", "lora_r", "load_in_8bit"},
          .model_key = "base_model",
          .as_trained = as_trained,
          .read = read,
          .write = write};
}

}  // namespace tidemark::io::training_format_axolotl
