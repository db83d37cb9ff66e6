// LLaMA-Factory's YAML: src/llamafactory/hparams/{model,data,finetuning,training}_args.py (0.9.6), for `stage: sft` and
// `pt`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/training_arguments.h"
#include "io/training_quantization.h"
#include "io/training_towers.h"
#include "io/training_write.h"
#include "io/value_json.h"

namespace tidemark::io::training_format_llamafactory {
namespace {

void refuse_methods(TrainingKeys& keys) {
  keys.must_be("stage", {"sft", "pt"});
  // clang-format off: several to a line
  keys.must_be_off({"enable_liger_kernel", "use_unsloth", "use_unsloth_gc", "use_galore", "use_apollo", "use_badam",
                    "use_adam_mini", "use_muon", "fp8"}, Takes::more);
  keys.must_be_off({"upcast_lmhead_output", "resize_vocab", "add_tokens", "add_special_tokens",
                    "additional_target", "use_dft_loss", "use_asft_loss", "use_eaft_loss"}, Takes::less);
  keys.must_be_off({"pissa_init", "shift_attn", "use_v1_kernels", "adapter_name_or_path"}, Takes::either);
  keys.must_be_off({"use_mca", "use_megatron_bridge", "use_hyper_parallel", "use_kt", "use_llama_pro",
                    "mixture_of_depths", "ref_model", "reward_model"});
  // clang-format on
}

/// model/patcher.py, prepare_model_for_training: norms become fp32, and what they return with them, unless all weights
/// are fp32 or DeepSpeed's engine makes all of them bf16 again (runtime/engine.py, _configure_distributed_model).
void check_upcast(TrainingKeys& keys, const Spec& spec) {
  if (!keys.boolean("upcast_layernorm").value_or(false)) return;
  if (spec.dtype == WeightDtype::fp32 || is_zero(spec.parallel)) return;
  keys.refuse("upcast_layernorm", "norms in fp32 beside half-precision layers are not predicted",
              {"false", Takes::less});
}

/// model/adapter.py, init_adapter: what trains is cast to fp32, but for pure_bf16.
void read_method(TrainingKeys& keys, const TrainingArguments& arguments, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  const std::string method = keys.text("finetuning_type").value_or("lora");
  const bool pure_bf16 = keys.boolean("pure_bf16").value_or(false);
  spec.dtype = arguments.bf16 || pure_bf16 ? WeightDtype::bf16
               : arguments.fp16            ? WeightDtype::fp16
                                           : dtype_of_config(draft);
  if (method == "lora") {
    std::vector<std::string> targets = keys.list("lora_target");
    const std::int64_t rank = keys.integer("lora_rank").value_or(8);
    const bool all = targets.empty() || (targets.size() == 1 && targets[0] == "all");
    set_lora(draft, rank, keys.real("lora_alpha").value_or(2 * static_cast<double>(rank)),
             keys.real("lora_dropout").value_or(0), all ? TextOrList("all-linear") : TextOrList(std::move(targets)));
    spec.lora->adapter_dtype = pure_bf16 ? AdapterDtype::bf16 : AdapterDtype::fp32;
  } else if (method == "full") {
    if (!pure_bf16) spec.dtype = WeightDtype::fp32;
    if (!pure_bf16 && arguments.half()) draft.assume("weights get to the card in the type in which they train");
  } else {
    keys.refuse_now("finetuning_type", {}, "lora and full are");
  }
  keys.pass_over({"lora_*", "loraplus_*", "use_rslora", "pissa_*", "create_new_adapter", "freeze_trainable_*",
                  "freeze_extra_modules", "oft_*"});
}

/// model/model_utils/quantization.py, configure_quantization: what is computed in is the type of training, if any.
void read_quantization(TrainingKeys& keys, const TrainingArguments& arguments, TrainingDraft& draft) {
  const Value* bits = keys.find("quantization_bit");
  keys.must_be("quantization_bit", {"4", "8"}, Takes::either);
  if (!bits || means_off(*bits)) return keys.pass_over({"quantization_*", "double_quantization"});
  keys.must_be("quantization_method", {"bnb", "bitsandbytes"}, Takes::either);
  if (keys.integer("quantization_bit") == 8) {
    set_quantization(keys, "quantization_bit", in_8bits(), draft);
    return keys.pass_over({"quantization_device_map", "quantization_type", "double_quantization"});
  }
  const bool is_half = arguments.half() || keys.boolean("pure_bf16").value_or(false);
  const WeightDtype computes = is_half ? draft.spec.dtype : WeightDtype::fp32;
  set_quantization(keys, "quantization_bit",
                   {.quant_type = read_quant_type(keys, "quantization_type"),
                    .use_double_quant = keys.boolean("double_quantization").value_or(true),
                    .compute_dtype = computes,
                    .quant_storage = is_half ? storage_as(computes) : QuantStorage::uint8,
                    .skip_modules = {}},
                   draft);
  keys.pass_over({"quantization_device_map"});
}

/// The parts of a model with images that train: model_utils/visual.py, get_forbidden_modules
void read_towers(TrainingKeys& keys, TrainingDraft& draft) {
  const FrozenTowers frozen{.vision = keys.boolean("freeze_vision_tower").value_or(true),
                            .projector = keys.boolean("freeze_multi_modal_projector").value_or(true),
                            .language = keys.boolean("freeze_language_model").value_or(false)};
  if (!has_images(draft)) return;
  if (draft.spec.lora) return keep_targets_in_language(keys, "freeze_vision_tower", frozen, draft);
  freeze_towers(frozen, draft.spec);
}

/// model/adapter.py, _setup_full_tuning: what trains is cast, and what is frozen is not.  DeepSpeed's engine undoes it.
void check_frozen_types(TrainingKeys& keys, const Spec& spec) {
  if (!spec.freeze.empty() && spec.dtype == WeightDtype::fp32)
    keys.refuse("finetuning_type", "weights that train are fp32 and frozen ones are not, which is not predicted",
                {"full, with all weights in fp32", Takes::more});
}

/// model/patcher.py, patch_config.  What trains as fp32 is read in half precision first, and cast there (read_method).
Spec as_trained(Spec spec) {
  const bool is_cast = !spec.lora && spec.dtype == WeightDtype::fp32 && spec.autocast != Autocast::none;
  return is_cast ? spec : loaded_onto_its_device(std::move(spec));
}

void read(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingArguments arguments;
  draft.model = keys.text("model_name_or_path").value_or("");
  read_training_arguments(keys, arguments, draft);
  refuse_methods(keys);
  // model_utils/checkpointing.py: on unless it is said otherwise, whatever gradient_checkpointing says
  arguments.checkpointing = !keys.boolean("disable_gradient_checkpointing").value_or(false);
  arguments.reentrant = keys.boolean("use_reentrant_gc").value_or(true);
  read_attention(keys, "flash_attn", draft);
  read_packing(keys, "neat_packing", draft);
  read_method(keys, arguments, draft);
  read_quantization(keys, arguments, draft);
  read_towers(keys, draft);
  if (const auto pixels = keys.integer("image_max_pixels")) take_image_limit("image_max_pixels", *pixels, draft);
  // hparams/parser.py, get_train_args
  if (draft.spec.lora && !arguments.find_unused_parameters) arguments.find_unused_parameters = false;
  apply_training_arguments(keys, arguments, draft);
  read_dora(keys, "use_dora", draft);
  check_upcast(keys, draft.spec);
  check_frozen_types(keys, draft.spec);
  draft.spec = as_trained(std::move(draft.spec));
  draft.take_length("cutoff_len", keys.integer("cutoff_len").value_or(2048));
  // clang-format off: several to a line
  keys.pass_over({"packing", "template", "dataset*", "eval_dataset", "media_dir", "train_on_prompt", "mask_history",
                  "streaming", "buffer_size", "mix_strategy", "interleave_probs", "overwrite_cache", "preprocessing_*",
                  "max_samples", "eval_num_beams", "ignore_pad_token_for_loss", "val_size", "eval_on_each_dataset",
                  "tool_format", "default_system", "enable_thinking", "preserve_thinking", "tokenized_path",
                  "data_shared_file_system", "cache_dir", "use_fast_tokenizer", "split_special_tokens", "model_revision",
                  "low_cpu_mem_usage", "trust_remote_code", "hf_hub_token", "ms_hub_token", "om_hub_token",
                  "print_param_status", "infer_*", "offload_folder", "use_kv_cache", "export_*", "vllm_*", "sglang_*",
                  "adapter_folder", "new_special_tokens_config", "init_special_tokens", "moe_aux_loss_coef",
                  "pref_*", "plot_loss", "compute_accuracy",
                  "disable_shuffling", "early_stopping_steps", "use_swanlab", "swanlab_*", "galore_*", "apollo_*",
                  "badam_*", "ray_*", "master_*", "video_*", "audio_*", "use_audio_in_video", "image_*",
                  "crop_to_patches", "temperature", "top_p", "top_k", "max_new_tokens", "fp8_*", "kt_*", "profiler_*",
                  "enable_torch_profiler", "megatron_bridge_args", "hyper_parallel_*", "dpo_*", "kto_*", "ppo_*",
                  "simpo_gamma", "ld_alpha", "rope_scaling", "ref_model_*", "reward_model_*", "asft_alpha", "eaft_alpha"});
  // clang-format on
}

std::vector<WrittenFile> write(const TrainingAnswer& answer, const std::string& path) {
  const Spec& spec = answer.spec;
  const std::string deepspeed = beside(path, ".deepspeed.json");
  Value keys = Value::Map{{"model_name_or_path", answer.model},
                          {"stage", "sft"},
                          {"do_train", true},
                          {"finetuning_type", spec.lora ? "lora" : "full"},
                          {"cutoff_len", spec.seq},
                          {"output_dir", "output"}};
  if (spec.attn == Attention::eager) keys.set("flash_attn", "disabled");
  append_training_arguments(spec, deepspeed, keys);
  const bool is_pure = spec.dtype == WeightDtype::bf16 && spec.autocast == Autocast::none && !is_zero(spec.parallel) &&
                       (!spec.fsdp2 || spec.fsdp2->param_dtype == PolicyDtype::none);
  if (is_pure) keys.set("pure_bf16", true);
  keys.set("disable_gradient_checkpointing", spec.checkpointing == Checkpointing::none);
  keys.set("use_reentrant_gc", spec.checkpointing == Checkpointing::reentrant);
  if (spec.lora) {
    keys.set("lora_rank", spec.lora->r);
    keys.set("lora_alpha", static_cast<std::int64_t>(spec.lora->alpha));
    keys.set("lora_dropout", spec.lora->dropout);
    if (spec.lora->use_dora) keys.set("use_dora", true);
    std::string targets;
    if (const auto* list = std::get_if<std::vector<std::string>>(&spec.lora->target_modules))
      targets = fmt::format("{}", fmt::join(*list, ","));
    else
      targets = std::get<std::string>(spec.lora->target_modules);
    keys.set("lora_target", targets == "all-linear" ? "all" : targets);
  }
  if (spec.quantization && spec.quantization->load_in_8bit) {
    keys.set("quantization_bit", 8);
  } else if (spec.quantization) {
    keys.set("quantization_bit", 4);
    keys.set("quantization_type", kQuantTypeNames[static_cast<std::size_t>(spec.quantization->quant_type)]);
    keys.set("double_quantization", spec.quantization->use_double_quant);
  }
  const std::string start =
      fmt::format("FORCE_TORCHRUN=1 NPROC_PER_NODE={} llamafactory-cli train {} dataset=DATASET template=TEMPLATE\n",
                  spec.gpus_per_node > 0 ? spec.gpus_per_node : spec.gpus, path);
  std::vector<WrittenFile> files{{path, as_comment(heading_of(answer, "LLaMA-Factory") + start) + value_to_yaml(keys)}};
  if (is_zero(spec.parallel)) files.push_back({deepspeed, value_to_json(deepspeed_config(spec))});
  return files;
}

}  // namespace

TrainingFormat format() {
  return {.name = "llamafactory",
          .title = "LLaMA-Factory",
          .version = "0.9.6",
          .signs = {"stage", "finetuning_type", "cutoff_len", "template", "lora_target", "lora_rank", "flash_attn",
                    "dataset_dir", "preprocessing_num_workers", "overwrite_cache", "max_samples", "plot_loss",
                    "val_size", "pure_bf16", "freeze_vision_tower"},
          .model_key = "model_name_or_path",
          .as_trained = as_trained,
          .read = read,
          .write = write};
}

}  // namespace tidemark::io::training_format_llamafactory
