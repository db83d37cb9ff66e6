#include "io/training_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "io/training_launch.h"
#include "io/training_optimizers.h"

namespace tidemark::io {
namespace {

void apply_optimizer(TrainingKeys& keys, const TrainingArguments& arguments, Spec& spec) {
  const std::optional<TrainerOptimizer> known = trainer_optimizer(arguments.optim);
  if (!known || known->nearest)
    keys.refuse(arguments.optim_key, fmt::format("the states of {} are not predicted", Value(arguments.optim).quoted()),
                known ? *known->nearest : Nearest{},
                "adamw_torch, adamw_torch_fused, adafactor, sgd, adagrad, rmsprop, and those of bitsandbytes are");
  const std::optional<TrainerOptimizer> taken =
      known && known->nearest ? trainer_optimizer(known->nearest->value) : known;
  spec.optimizer = taken ? taken->optimizer : OptimizerName::adamw;
  spec.optimizer_impl = taken ? taken->impl : OptimizerImpl::automatic;
  set_weight_decay(spec, arguments.weight_decay);
}

void read_optim_args(TrainingKeys& keys, const TrainingArguments& arguments, Spec& spec) {
  const Value* found = keys.find("optim_args");
  if (!found || means_off(*found)) return;
  // "momentum=0.9,nesterov=True", as a text or a map
  for (std::string part : keys.list("optim_args")) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals), text = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (arguments.optim == "sgd" && name == "momentum" && lenient_real(text))
      spec.momentum = *lenient_real(text);
    else if (arguments.optim == "sgd" && name == "nesterov" && lenient_boolean(text))
      spec.nesterov = *lenient_boolean(text);
    else if (name != "dampening" && name != "weight_decay" && name != "eps" && name != "alpha")
      keys.refuse("optim_args", fmt::format("{} is not understood", Value(part).quoted()),
                  {"none of it", Takes::either});
  }
}

void apply_precision(TrainingKeys& keys, const TrainingArguments& arguments, Spec& spec) {
  if (arguments.bf16 && arguments.fp16) keys.refuse_now("fp16", "bf16 and fp16 are both true");
  spec.autocast = arguments.bf16 ? Autocast::bf16 : arguments.fp16 ? Autocast::fp16 : Autocast::none;
  spec.grad_scaler = arguments.fp16;
}

bool is_asked(const std::optional<Value>& value) { return value && !means_off(*value); }

/// One process for each GPU: torch's DistributedDataParallel, as accelerate makes it.
/// transformers: trainer.py (5.17.0), _build_accelerator_args
void share_by_ddp(TrainingKeys& keys, const TrainingArguments& arguments, Spec& spec) {
  spec.parallel = Parallel::ddp;
  DdpSpec ddp;
  ddp.find_unused_parameters = arguments.find_unused_parameters.value_or(!arguments.checkpointing);
  ddp.bucket_cap_mb = keys.real("ddp_bucket_cap_mb").value_or(ddp.bucket_cap_mb);
  ddp.broadcast_buffers = keys.boolean("ddp_broadcast_buffers").value_or(true);
  ddp.static_graph = keys.boolean("ddp_static_graph").value_or(false);
  ddp.no_sync = arguments.accumulation > 1;
  spec.ddp = ddp;
}

std::int64_t world_of(const TrainingArguments& arguments, TrainingDraft& draft) {
  if (draft.files.gpus > 0) return draft.files.gpus;
  if (arguments.processes > 0) return arguments.processes;
  draft.assume("the file does not say on how many GPUs: one (--gpus N)");
  return 1;
}

Value file_or_map(const Value& value, const TrainingFiles& files) {
  if (value.as_map()) return value;
  const auto path = lenient_text(value);
  if (!path || !files.read) throw Error(Errc::bad_value, fmt::format("{} is no file", value.quoted()));
  return files.read(*path);
}

/// "full_shard auto_wrap offload", which `fsdp` held before it was true or false.
/// transformers: training_args.py (5.17.0), _apply_legacy_fsdp_to_config
void add_legacy_fsdp(TrainingKeys& keys, const Value& fsdp, Value& config) {
  if (lenient_boolean(fsdp)) return;
  std::vector<std::string> words;
  std::string text = fsdp.as_text() ? *fsdp.as_text() : "";
  std::replace(text.begin(), text.end(), ' ', ',');
  if (fsdp.as_list())
    words = keys.list("fsdp");
  else
    words = TrainingKeys(Value::Map{{"fsdp", text}}, keys.path(), keys.refusals()).list("fsdp");
  const bool first = config.find("version") && lenient_integer(*config.find("version")) == 1;
  for (const std::string& word : words) {
    if (word == "offload")
      config.set("cpu_offload", true);
    else if (first && word != "auto_wrap" && !config.find("reshard_after_forward"))
      config.set("reshard_after_forward", word);
    else if (!first && (word == "full_shard" || word == "shard_grad_op"))
      config.set("reshard_after_forward", word == "full_shard");
    else if (word != "auto_wrap")
      keys.refuse("fsdp", {}, {"full_shard auto_wrap", Takes::either});
  }
}

void share_work(TrainingKeys& keys, const TrainingArguments& arguments, TrainingDraft& draft) {
  Spec& spec = draft.spec;
  spec.gpus = world_of(arguments, draft);
  spec.gpus_per_node = draft.files.gpus_per_node;
  const std::optional<Value>& deepspeed = draft.files.deepspeed ? draft.files.deepspeed : arguments.deepspeed;
  if (spec.quantization && (is_asked(deepspeed) || is_asked(arguments.fsdp))) {
    keys.refuse(is_asked(deepspeed) ? "deepspeed" : "fsdp", "quantized weights that GPUs share out are not predicted",
                {"none of it: each GPU has all weights", Takes::more});
    return spec.gpus > 1 ? share_by_ddp(keys, arguments, spec) : void();
  }
  if (is_asked(deepspeed)) {
    const std::string where =
        deepspeed->as_text() ? *deepspeed->as_text() : (keys.path() / "deepspeed").text(deepspeed->line());
    return read_deepspeed(file_or_map(*deepspeed, draft.files), where, arguments, draft);
  }
  if (is_asked(arguments.fsdp)) {
    Value config =
        is_asked(arguments.fsdp_config) ? file_or_map(*arguments.fsdp_config, draft.files) : Value(Value::Map());
    config = without_fsdp_prefix(config);
    add_legacy_fsdp(keys, *arguments.fsdp, config);
    TrainingKeys fsdp(config, keys.path() / "fsdp_config", keys.refusals());
    return read_fsdp(fsdp, arguments, draft);
  }
  if (spec.gpus > 1) share_by_ddp(keys, arguments, spec);
}

}  // namespace

void read_checkpointing_kwargs(TrainingKeys how, TrainingArguments& arguments) {
  if (const auto reentrant = how.boolean("use_reentrant")) arguments.reentrant = *reentrant;
  if (const auto every = how.integer("every_n_layers")) arguments.checkpoint_every = *every;
  how.must_be_off({"selective", "context_fn"}, Takes::either);
  how.must_be_off({"offload"}, Takes::more);
}

void read_training_arguments(TrainingKeys& keys, TrainingArguments& arguments, TrainingDraft& draft) {
  const auto take = [](auto& member, const auto& found) {
    if (found) member = *found;
  };
  take(arguments.batch, keys.integer("per_device_train_batch_size"));
  take(arguments.accumulation, keys.integer("gradient_accumulation_steps"));
  take(arguments.bf16, keys.boolean("bf16"));
  take(arguments.fp16, keys.boolean("fp16"));
  take(arguments.optim, keys.text("optim"));
  take(arguments.weight_decay, keys.real("weight_decay"));
  take(arguments.max_grad_norm, keys.real("max_grad_norm"));
  // The first is a deprecated alias since 5.23.0, and does not count beside the second.
  for (const char* name : {"gradient_checkpointing", "activation_checkpointing"}) {
    take(arguments.checkpointing, keys.boolean(name));
    read_checkpointing_kwargs(keys.map(std::string(name) + "_kwargs"), arguments);
  }
  for (auto [key, member] : {std::pair{"deepspeed", &arguments.deepspeed}, std::pair{"fsdp", &arguments.fsdp},
                             std::pair{"fsdp_config", &arguments.fsdp_config}})
    if (const Value* found = keys.find(key)) *member = *found;
  arguments.find_unused_parameters = keys.boolean("ddp_find_unused_parameters");
  keys.must_be_off({"use_liger_kernel", "activation_offloading"}, Takes::more);
  keys.must_be_off({"neftune_noise_alpha", "label_smoothing_factor", "use_cache"}, Takes::less);
  keys.must_be_off({"torch_compile", "auto_find_batch_size", "torch_empty_cache_steps"}, Takes::either);
  keys.must_be_off({"optim_target_modules", "use_cpu", "parallelism_config"});
  read_launch(keys, arguments, draft);
  // Evaluation has no gradients; what is held while it goes on is not more (docs/howto/trainer-configs.md).
  // clang-format off: several to a line
  keys.pass_over({"output_dir", "overwrite_output_dir", "do_*", "eval_*", "per_device_eval_batch_size", "per_gpu_*",
                  "prediction_loss_only", "learning_rate", "num_train_epochs", "max_steps", "lr_scheduler*", "warmup_*",
                  "log_*", "logging_*", "save_*", "seed", "data_seed", "adam_*", "tf32", "report_to", "run_name",
                  "disable_tqdm", "remove_unused_columns", "label_names", "load_best_model_at_end",
                  "metric_for_best_model", "greater_is_better", "ignore_data_skip", "push_to_hub*", "hub_*",
                  "dataloader_*", "include_*", "group_by_length", "length_column_name", "train_sampling_strategy",
                  "ddp_timeout", "ddp_backend", "ddp_*", "local_rank", "resume_from_checkpoint", "skip_memory_metrics",
                  "average_tokens_across_devices", "full_determinism", "bf16_full_eval", "fp16_full_eval",
                  "torch_compile_*", "liger_kernel_config", "accelerator_config", "evaluation_strategy", "debug",
                  "project", "trackio_*", "fsdp_transformer_layer_cls_to_wrap", "batch_eval_metrics",
                  "past_index", "fp16_opt_level", "half_precision_backend", "no_cuda", "use_mps_device", "jit_mode_eval",
                  "restore_callback_states_from_checkpoint", "enable_jit_checkpoint", "predict_with_generate",
                  "generation_*", "sortish_sampler", "torchdynamo", "ray_scope", "split_batches", "tpu_*"});
  // clang-format on
}

void apply_training_arguments(TrainingKeys& keys, const TrainingArguments& given, TrainingDraft& draft) {
  TrainingArguments arguments = given;
  if (draft.files.accelerate) read_accelerate(*draft.files.accelerate, arguments, "--accelerate", draft);
  Spec& spec = draft.spec;
  spec.batch = arguments.batch;
  spec.grad_accumulation = arguments.accumulation;
  spec.loop = LoopKind::trainer;
  apply_precision(keys, arguments, spec);
  apply_optimizer(keys, arguments, spec);
  read_optim_args(keys, arguments, spec);
  if (arguments.max_grad_norm > 0) spec.max_grad_norm = arguments.max_grad_norm;
  spec.checkpointing = !arguments.checkpointing ? Checkpointing::none
                       : arguments.reentrant    ? Checkpointing::reentrant
                                                : Checkpointing::non_reentrant;
  if (arguments.checkpointing) spec.checkpoint_every = arguments.checkpoint_every;
  share_work(keys, arguments, draft);
}

std::optional<WeightDtype> weight_dtype(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  if (name == "bf16" || name == "bfloat16") return WeightDtype::bf16;
  if (name == "fp16" || name == "float16" || name == "half") return WeightDtype::fp16;
  if (name == "fp32" || name == "float32" || name == "float") return WeightDtype::fp32;
  return std::nullopt;
}

WeightDtype dtype_of_config(TrainingDraft& draft) {
  const Value& config = draft.model_config();
  const Value* text_config = config.find("text_config");
  for (const Value* where : {&config, text_config})
    for (const char* key : {"dtype", "torch_dtype"})
      if (const Value* found = where ? where->find(key) : nullptr; found && found->as_text())
        if (const auto dtype = weight_dtype(*found->as_text())) return *dtype;
  return WeightDtype::fp32;
}

void read_attention(TrainingKeys& keys, std::string_view key, TrainingDraft& draft) {
  const auto text = keys.text(key);
  if (!text || *text == "auto") return;
  const bool is_flash = text->find("flash_attn") != std::string::npos || text->starts_with("flash_attention") ||
                        *text == "fa2" || *text == "fa3" || text->find("flash-attn") != std::string::npos;
  draft.spec.attn = *text == "eager" || *text == "disabled" ? Attention::eager : Attention::sdpa;
  if (is_flash)
    draft.flash_attention = key;
  else if (draft.spec.attn == Attention::sdpa && *text != "sdpa")
    keys.refuse(key, fmt::format("attention by {} is not predicted", Value(*text).quoted()), {"sdpa", Takes::either});
}

void read_packing(TrainingKeys& keys, std::string_view key, TrainingDraft& draft) {
  if (!keys.boolean(key).value_or(false)) return;
  if (draft.flash_attention.empty())
    return keys.refuse(key, "samples that share a row need FlashAttention, or a mask, which is not predicted",
                       {"false", Takes::less});
  draft.assume(
      fmt::format("{}: each row of the batch is one sample of the full length: FlashAttention takes the bounds "
                  "of samples within it, and no mask",
                  key));
}

void set_lora(TrainingDraft& draft, std::int64_t r, double alpha, double dropout, TextOrList targets) {
  LoraSpec lora;
  lora.r = r;
  lora.alpha = alpha;
  lora.dropout = dropout;
  lora.target_modules = std::move(targets);
  draft.spec.lora = std::move(lora);
}

void read_dora(TrainingKeys& keys, std::string_view key, TrainingDraft& draft) {
  if (!keys.boolean(key).value_or(false) || !draft.spec.lora) return;
  const auto& quantization = draft.spec.quantization;
  if ((quantization && quantization->load_in_8bit) || !runs_whole_model(draft.spec))
    keys.refuse(key, "DoRA is not predicted beside weights in 8 bits, nor where GPUs share the weights",
                {"false", Takes::less});
  else
    draft.spec.lora->use_dora = true;
}

Spec loaded_onto_its_device(Spec spec) {
  if (runs_whole_model(spec)) spec.load = Load::device;
  return spec;
}

}  // namespace tidemark::io
