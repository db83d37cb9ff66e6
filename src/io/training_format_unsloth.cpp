// The arguments of unsloth's calls, as its notebooks and unsloth-cli.py have them (2026.10): FastLanguageModel's
// from_pretrained and get_peft_model, and TRL's SFTConfig.
#include "io/training_arguments.h"
#include "io/training_quantization.h"

namespace tidemark::io::training_format_unsloth {
namespace {

void read_adapters(TrainingKeys& keys, TrainingDraft& draft) {
  std::vector<std::string> targets = keys.list("target_modules");
  if (targets.empty()) targets = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"};
  const bool all = targets.size() == 1 && targets[0] == "all-linear";
  set_lora(draft, keys.integer("r").value_or(16), keys.real("lora_alpha").value_or(16),
           keys.real("lora_dropout").value_or(0), all ? TextOrList("all-linear") : TextOrList(std::move(targets)));
  keys.must_be("bias", {"none"}, Takes::less);
  keys.must_be_off({"use_dora", "modules_to_save"}, Takes::less);
  keys.must_be_off({"loftq_config"}, Takes::either);
  keys.pass_over({"use_rslora", "random_state"});
}

/// unsloth: models/loader.py: load_in_4bit is nf4 with double quantization.
void read_bits(TrainingKeys& keys, TrainingDraft& draft) {
  keys.must_be_off({"load_in_fp8", "load_in_16bit"}, Takes::either);
  const bool in_8bit = keys.boolean("load_in_8bit").value_or(false);
  if (in_8bit) set_quantization(keys, "load_in_8bit", in_8bits(), draft);
  if (in_8bit || !keys.boolean("load_in_4bit").value_or(false)) return;
  set_quantization(
      keys, "load_in_4bit",
      {.quant_type = QuantType::nf4, .use_double_quant = true, .compute_dtype = draft.spec.dtype, .skip_modules = {}},
      draft);
}

/// "unsloth" moves what a checkpoint keeps to the host.
void read_checkpointing(TrainingKeys& keys, TrainingArguments& arguments) {
  const Value* found = keys.find("use_gradient_checkpointing");
  const auto truth = found ? lenient_boolean(*found) : std::nullopt;
  if (!truth)
    keys.refuse("use_gradient_checkpointing", "checkpoints that are moved to the host are not predicted",
                {"true", Takes::more});
  arguments.checkpointing = truth.value_or(true);
}

void read(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingArguments arguments;
  arguments.batch = 2;
  arguments.accumulation = 4;
  arguments.optim = "adamw_8bit";
  draft.model = keys.text("model_name").value_or("");
  read_training_arguments(keys, arguments, draft);
  arguments.bf16 = !arguments.fp16;
  const std::string dtype = keys.text("dtype").value_or("bfloat16");
  draft.spec.dtype = weight_dtype(dtype).value_or(WeightDtype::bf16);
  keys.refuse("model_name", "unsloth's own kernels and loss are not predicted",
              {"the same model by transformers and TRL's SFTTrainer", Takes::either});
  read_checkpointing(keys, arguments);
  read_adapters(keys, draft);
  read_bits(keys, draft);
  read_packing(keys, "packing", draft);
  draft.take_length("max_seq_length", keys.integer("max_seq_length").value_or(2048));
  apply_training_arguments(keys, arguments, draft);
  draft.spec.loop = LoopKind::sft_trainer;
  if (is_alone(draft.spec)) draft.spec.load = Load::device_map;
  if (draft.spec.quantization) draft.spec.lora->adapter_dtype = AdapterDtype::bf16;
  keys.pass_over({"full_finetuning", "token", "trust_remote_code", "dataset*", "save_*", "push_*", "hub_*",
                  "quantization*", "fast_inference", "gpu_memory_utilization", "max_lora_rank"});
}

}  // namespace

TrainingFormat format() {
  return {.name = "unsloth",
          .title = "unsloth",
          .version = "2026.10",
          .signs = {"random_state", "use_gradient_checkpointing", "max_seq_length", "loftq_config", "r", "bias"},
          .model_key = "model_name",
          .loop = LoopKind::sft_trainer,
          .read = read};
}

}  // namespace tidemark::io::training_format_unsloth
