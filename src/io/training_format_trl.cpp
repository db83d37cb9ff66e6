// YAML of `trl sft`, `dpo`, `kto`, `reward`, `grpo` `--config`: trl/trainer/*_config.py (1.16.0)
#include <fmt/format.h>

#include <algorithm>

#include "io/training_arguments.h"
#include "io/training_quantization.h"
#include "io/training_write.h"
#include "io/value_json.h"

namespace tidemark::io::training_format_trl {
namespace {

void read_lora(TrainingKeys& keys, TrainingDraft& draft) {
  if (!keys.boolean("use_peft").value_or(false)) {
    keys.pass_over({"lora_*", "use_rslora", "use_dora"});
    return;
  }
  std::vector<std::string> targets = keys.list("lora_target_modules");
  const bool all = targets.size() == 1 && targets[0] == "all-linear";
  set_lora(draft, keys.integer("lora_r").value_or(16), keys.real("lora_alpha").value_or(32),
           keys.real("lora_dropout").value_or(0.05),
           targets.empty() ? TextOrList("")
           : all           ? TextOrList("all-linear")
                           : TextOrList(std::move(targets)));
  keys.must_be_off({"lora_target_parameters", "lora_modules_to_save"}, Takes::less);
  keys.must_be("lora_task_type", {"CAUSAL_LM"});
  keys.pass_over({"use_rslora"});
}

void read_4bit(TrainingKeys& keys, TrainingDraft& draft) {
  keys.pass_over({"load_in_8bit"});
  if (const auto dtype = keys.text("dtype"); dtype && !weight_dtype(*dtype))
    keys.refuse("dtype", "quantized weights need a type to compute in", {"bfloat16", Takes::either});
  set_quantization(keys, "load_in_4bit",
                   {.quant_type = read_quant_type(keys, "bnb_4bit_quant_type"),
                    .use_double_quant = keys.boolean("use_bnb_nested_quant").value_or(false),
                    .compute_dtype = draft.spec.dtype,
                    .quant_storage = read_quant_storage(keys, "bnb_4bit_quant_storage"),
                    .skip_modules = {}},
                   draft);
}

/// trl: trainer/utils.py, get_quantization_config, which asks for 4 bits first; sft_trainer.py casts adapters beside
/// quantized weights.
void read_quantization(TrainingKeys& keys, TrainingDraft& draft) {
  const bool in_4bit = keys.boolean("load_in_4bit").value_or(false),
             in_8bit = keys.boolean("load_in_8bit").value_or(false);
  if (!in_4bit) keys.pass_over({"bnb_4bit_*", "use_bnb_nested_quant"});
  if (!in_4bit && !in_8bit) return;
  if (in_4bit)
    read_4bit(keys, draft);
  else
    set_quantization(keys, "load_in_8bit", in_8bits(), draft);
  draft.spec.lora->adapter_dtype = AdapterDtype::bf16;
}

/// trl: trainer/utils.py, create_model_from_path: device_map="auto"; sft_trainer.py: none of several processes.
void load_as_trl_does(Spec& spec) {
  if (is_alone(spec)) spec.load = Load::device_map;
}

/// trl: trainer/sft_trainer.py: adapters beside quantized weights become bf16, and head and loss are its own.
Spec as_trained(Spec spec) {
  if (spec.loop == LoopKind::trainer) spec.loop = LoopKind::sft_trainer;
  load_as_trl_does(spec);
  if (spec.quantization && spec.lora && spec.lora->adapter_dtype == AdapterDtype::automatic)
    spec.lora->adapter_dtype = AdapterDtype::bf16;
  return spec;
}

void read_dtype(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingKeys init = keys.map("model_init_kwargs");
  std::string dtype = init.text("dtype").value_or(
      init.text("torch_dtype").value_or(keys.text("dtype").value_or(keys.text("torch_dtype").value_or("float32"))));
  const auto known = weight_dtype(dtype);
  if (!known && dtype != "auto") keys.refuse_now("dtype");
  draft.spec.dtype = known ? *known : dtype_of_config(draft);
  read_attention(keys, "attn_implementation", draft);
  read_attention(init, "attn_implementation", draft);
  init.must_be_off({"quantization_config"});
  init.must_be_off({"device_map"}, Takes::either);
}

constexpr std::string_view name_of_script(LoopKind loop) {
  switch (loop) {
    case LoopKind::dpo_trainer: return "dpo";
    case LoopKind::kto_trainer: return "kto";
    case LoopKind::reward_trainer: return "reward";
    case LoopKind::grpo_trainer: return "grpo";
    default: return "sft";
  }
}

/// The command, or keys that one trainer alone has.
LoopKind loop_of(TrainingKeys& keys) {
  TrainingKeys launcher = keys.map("launcher");
  const std::string command = launcher.text("command").value_or(""), program = launcher.text("program").value_or("");
  const auto is_program = [&](const std::string& script) {
    return program == "trl.scripts." + script || program == script + ".py" || program.ends_with("/" + script + ".py");
  };
  for (const LoopKind loop : {LoopKind::sft_trainer, LoopKind::dpo_trainer, LoopKind::kto_trainer,
                              LoopKind::reward_trainer, LoopKind::grpo_trainer})
    if (const std::string script(name_of_script(loop)); command == script || is_program(script)) return loop;
  const auto has_one = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return keys.find(name) != nullptr; });
  };
  if (has_one({"num_generations", "use_vllm", "vllm_mode"})) return LoopKind::grpo_trainer;
  if (has_one({"desirable_weight", "undesirable_weight"})) return LoopKind::kto_trainer;
  if (has_one({"center_rewards_coefficient"})) return LoopKind::reward_trainer;
  const bool is_dpo = has_one({"beta", "precompute_ref_log_probs", "label_smoothing", "ld_alpha", "f_divergence_type"});
  return is_dpo ? LoopKind::dpo_trainer : LoopKind::sft_trainer;
}

void read_preferences(TrainingKeys& keys, LoopKind loop) {
  const std::string_view known = loop == LoopKind::kto_trainer ? "kto" : "sigmoid";
  const std::vector<std::string> losses = keys.list("loss_type");
  if (losses.size() > 1 || (!losses.empty() && losses[0] != known))
    keys.refuse("loss_type", {}, {std::string(known), Takes::either});
  keys.must_be("f_divergence_type", {"reverse_kl"}, Takes::either);
  if (!keys.boolean("disable_dropout").value_or(true)) keys.refuse("disable_dropout", {}, {"true", Takes::less});
  keys.must_be_off({"precompute_ref_log_probs"}, Takes::more);
  keys.must_be_off({"use_weighting", "ld_alpha", "sync_ref_model", "center_rewards_coefficient"}, Takes::less);
  keys.must_be_off({"padding_free"}, Takes::either);
  keys.pass_over({"beta", "label_smoothing", "desirable_weight", "undesirable_weight", "ref_model_*",
                  "precompute_ref_batch_size", "loss_weights", "discopop_tau", "f_alpha_divergence_coef",
                  "train_sampling_strategy", "max_prompt_length", "max_completion_length"});
}

/// trl: trainer/grpo_config.py (1.16.0); the length of prompts is a key of older releases alone.
void read_grpo(TrainingKeys& keys, const TrainingArguments& arguments, TrainingDraft& draft) {
  constexpr std::int64_t kLength = 512;
  GrpoSpec grpo{.max_completion_length = keys.integer("max_completion_length").value_or(kLength),
                .num_generations = keys.integer("num_generations").value_or(0),
                .beta = keys.real("beta").value_or(0),
                .use_vllm = keys.boolean("use_vllm").value_or(false)};
  // vllm_device of releases before 0.18 is another GPU
  const bool is_colocated = keys.text("vllm_mode").value_or("colocate") == "colocate" && !keys.find("vllm_device");
  const double utilization = keys.real("vllm_gpu_memory_utilization").value_or(0.3);
  if (grpo.use_vllm && is_colocated) grpo.vllm_gpu_memory_utilization = utilization;
  const std::int64_t samples =
      arguments.batch * arguments.accumulation * std::max<std::int64_t>(arguments.processes, 1);
  if (grpo.num_generations > 1 && samples % grpo.num_generations != 0) {
    keys.refuse("num_generations", fmt::format("it does not divide the {} completions of a step", samples),
                {std::to_string(usual_num_generations(samples)), Takes::either});
    grpo.num_generations = 0;
  }
  if (const auto loss = keys.text("loss_type")) {
    const auto known = std::find(kPolicyLossNames.begin(), kPolicyLossNames.end(), *loss);
    if (known == kPolicyLossNames.end())
      keys.refuse("loss_type", {}, {"dapo", Takes::either});
    else
      grpo.loss_type = static_cast<PolicyLoss>(known - kPolicyLossNames.begin());
  }
  if (keys.text("importance_sampling_level").value_or("token") == "sequence")
    grpo.importance_sampling_level = SamplingLevel::sequence;
  draft.spec.grpo = grpo;
  draft.take_length("max_completion_length and max_prompt_length",
                    grpo.max_completion_length + keys.integer("max_prompt_length").value_or(kLength));
  if (keys.integer("num_iterations").value_or(1) != 1) keys.refuse("num_iterations", {}, {"1", Takes::less});
  keys.must_be_off({"sync_ref_model", "mask_truncated_completions", "entropy_coef", "use_adaptive_entropy",
                    "off_policy_mask_threshold", "use_liger_kernel", "use_liger_loss", "disable_dropout"},
                   Takes::either);
  keys.must_be("vllm_importance_sampling_mode", {"sequence_mask"}, Takes::either);
  keys.pass_over({"temperature",
                  "top_p",
                  "top_k",
                  "min_p",
                  "repetition_penalty",
                  "epsilon*",
                  "delta",
                  "vllm_*",
                  "reward_*",
                  "scale_rewards",
                  "log_*",
                  "generation_*",
                  "cache_implementation",
                  "ds3_*",
                  "num_completions_to_print",
                  "num_generations_eval",
                  "ref_model_*",
                  "chat_template_kwargs",
                  "wandb_*",
                  "system_prompt",
                  "cosine_*",
                  "use_bias_correction_kl",
                  "multi_objective_aggregation"});
}

void read_sft(TrainingKeys& keys, TrainingDraft& draft) {
  if (keys.text("packing_strategy").value_or("bfd") != "wrapped") read_packing(keys, "packing", draft);
  if (!keys.boolean("packing").value_or(false)) read_packing(keys, "padding_free", draft);
  keys.must_be("loss_type", {"nll", "chunked_nll"}, Takes::either);
}

void read(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingArguments arguments;
  const LoopKind loop = loop_of(keys);
  arguments.checkpointing = true;
  draft.model = keys.text("model_name_or_path").value_or("");
  read_training_arguments(keys, arguments, draft);
  // base_config.py, __post_init__
  if (!keys.boolean("bf16")) arguments.bf16 = !arguments.fp16;
  read_dtype(keys, draft);
  read_lora(keys, draft);
  read_quantization(keys, draft);
  keys.must_be_off({"chat_template_path"}, Takes::either);
  if (loop == LoopKind::grpo_trainer)
    read_grpo(keys, arguments, draft);
  else
    loop == LoopKind::sft_trainer ? read_sft(keys, draft) : read_preferences(keys, loop);
  keys.must_be("pad_to_multiple_of", {"auto"}, Takes::less);
  // Keys of trainers that generate, whose files look the same.
  std::vector<const char*> others;
  if (loop != LoopKind::grpo_trainer) others = {"num_generations", "vllm_mode", "use_vllm"};
  if (loop == LoopKind::sft_trainer) others.insert(others.end(), {"max_prompt_length", "max_completion_length"});
  for (const char* key : others)
    if (keys.find(key))
      keys.refuse(key,
                  fmt::format("{} is no key of `trl {}`, the trainer that is predicted", key, name_of_script(loop)));
  if (loop != LoopKind::grpo_trainer)
    draft.take_length("max_length",
                      keys.integer(keys.find("max_seq_length") ? "max_seq_length" : "max_length").value_or(1024));
  if (const auto processes = keys.integer("num_processes")) arguments.processes = *processes;
  if (const auto file = keys.text("accelerate_config"); file && !draft.files.accelerate)
    read_accelerate(draft.files.read(*file), arguments, *file, draft);
  apply_training_arguments(keys, arguments, draft);
  read_dora(keys, "use_dora", draft);
  draft.spec.loop = loop;
  load_as_trl_does(draft.spec);
  keys.pass_over({"dataset_*",
                  "datasets",
                  "streaming",
                  "packing_strategy",
                  "eval_packing",
                  "completion_only_loss",
                  "assistant_only_loss",
                  "eos_token",
                  "pad_token",
                  "truncation_mode",
                  "shuffle_dataset",
                  "trust_remote_code",
                  "chat_template",
                  "model_revision",
                  "router_aux_loss_coef",
                  "gradient_checkpointing_kwargs",
                  "ignore_bias_buffers",
                  "machine_rank",
                  "num_machines",
                  "packing",
                  "dataloader_*"});
}

/// Lengths take the place of max_length.
void write_grpo(const GrpoOptions& options, const std::optional<GrpoSpec>& grpo, Value& keys) {
  keys.set("max_completion_length", options.completion_tokens);
  keys.set("num_generations", options.num_generations);
  keys.set("loss_type", kPolicyLossNames[static_cast<std::size_t>(options.loss_type)]);
  if (options.of_sequence) keys.set("importance_sampling_level", "sequence");
  if (!grpo) return;
  keys.set("beta", grpo->beta);
  keys.set("use_vllm", grpo->use_vllm);
  if (!grpo->use_vllm) return;
  const double share = grpo->vllm_gpu_memory_utilization;
  keys.set("vllm_mode", share > 0 ? "colocate" : "server");
  if (share > 0) keys.set("vllm_gpu_memory_utilization", share);
}

std::vector<WrittenFile> write(const TrainingAnswer& answer, const std::string& path) {
  const Spec& spec = answer.spec;
  const std::string accelerate = beside(path, ".accelerate.yaml"), deepspeed = beside(path, ".deepspeed.json");
  Value keys =
      Value::Map{{"model_name_or_path", answer.model}, {"dtype", name_of_dtype(spec.dtype)}, {"output_dir", "output"}};
  if (spec.loop == LoopKind::sft_trainer) keys.set("loss_type", "nll");
  if (spec.loop == LoopKind::grpo_trainer) write_grpo(grpo_options_of(spec, spec.seq), spec.grpo, keys);
  if (spec.loop != LoopKind::grpo_trainer) keys.set("max_length", spec.seq);
  if (spec.attn == Attention::eager) keys.set("attn_implementation", "eager");
  append_training_arguments(spec, deepspeed, keys);
  if (spec.lora) {
    keys.set("use_peft", true);
    keys.set("lora_r", spec.lora->r);
    keys.set("lora_alpha", static_cast<std::int64_t>(spec.lora->alpha));
    keys.set("lora_dropout", spec.lora->dropout);
    if (spec.lora->use_dora) keys.set("use_dora", true);
    if (const auto* list = std::get_if<std::vector<std::string>>(&spec.lora->target_modules))
      keys.set("lora_target_modules", Value::List(list->begin(), list->end()));
    else if (const auto& pattern = std::get<std::string>(spec.lora->target_modules); !pattern.empty())
      keys.set("lora_target_modules", pattern);
  }
  if (spec.quantization && spec.quantization->load_in_8bit) {
    keys.set("load_in_8bit", true);
  } else if (spec.quantization) {
    keys.set("load_in_4bit", true);
    keys.set("bnb_4bit_quant_type", kQuantTypeNames[static_cast<std::size_t>(spec.quantization->quant_type)]);
    keys.set("use_bnb_nested_quant", spec.quantization->use_double_quant);
  }
  const std::string start = "accelerate launch --config_file " + accelerate + " -m trl.scripts." +
                            std::string(name_of_script(spec.loop)) + " --config " + path + " --dataset_name DATASET\n";
  std::vector<WrittenFile> files{
      {path, as_comment(heading_of(answer, fmt::format("TRL's `trl {}`", name_of_script(spec.loop))) + start) +
                 value_to_yaml(keys)},
      {accelerate, as_comment(heading_of(answer, "accelerate")) + value_to_yaml(accelerate_config(spec))}};
  if (is_zero(spec.parallel)) files.push_back({deepspeed, value_to_json(deepspeed_config(spec))});
  return files;
}

}  // namespace

TrainingFormat format() {
  return {.name = "trl",
          .title = "TRL",
          .version = "1.16.0",
          .signs = {"dataset_name",
                    "use_peft",
                    "lora_r",
                    "lora_target_modules",
                    "max_length",
                    "loss_type",
                    "dataset_text_field",
                    "dataset_train_split",
                    "packing_strategy",
                    "model_init_kwargs",
                    "assistant_only_loss",
                    "padding_free",
                    "completion_only_loss",
                    "beta",
                    "precompute_ref_log_probs",
                    "num_generations",
                    "max_completion_length",
                    "desirable_weight",
                    "center_rewards_coefficient",
                    "ref_model_mixup_alpha",
                    "dataset_mixture",
                    "dataset_mixer"},  // the last two are of alignment-handbook's files
          .model_key = "model_name_or_path",
          .loop = LoopKind::sft_trainer,
          .as_trained = as_trained,
          .read = read,
          .write = write};
}

}  // namespace tidemark::io::training_format_trl
