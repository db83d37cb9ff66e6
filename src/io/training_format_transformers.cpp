// transformers.TrainingArguments as JSON (training_args.py, 5.17.0): what HfArgumentParser reads and to_json_file
// writes.
#include "io/training_arguments.h"
#include "io/training_write.h"
#include "io/value_json.h"

namespace tidemark::io::training_format_transformers {
namespace {

void read(TrainingKeys& keys, TrainingDraft& draft) {
  TrainingArguments arguments;
  draft.model = keys.text("model_name_or_path").value_or("");
  read_training_arguments(keys, arguments, draft);
  // The arguments of transformers' own examples, which stand in the same file.
  const auto* const block = keys.find_any({"block_size", "max_seq_length", "model_max_length", "max_length"});
  draft.take_length("block_size", block ? lenient_integer(*block).value_or(0) : 0);
  std::string dtype = keys.text("torch_dtype").value_or(keys.text("dtype").value_or("auto"));
  if (dtype != "auto") {
    const auto known = weight_dtype(dtype);
    if (!known) keys.refuse_now("torch_dtype");
    draft.spec.dtype = *known;
  } else {
    draft.spec.dtype = dtype_of_config(draft);
    draft.assume("the weights have the type that config.json says, as from_pretrained makes them (--dtype)");
  }
  read_attention(keys, "attn_implementation", draft);
  apply_training_arguments(keys, arguments, draft);
  keys.pass_over({"dataset_*", "data_path", "train_file", "validation_*", "preprocessing_*", "config_name",
                  "tokenizer_name", "cache_dir", "use_fast_tokenizer", "model_revision", "trust_remote_code",
                  "low_cpu_mem_usage", "streaming", "max_train_samples", "max_eval_samples"});
}

/// Writes the arguments that transformers' examples read, and the command that starts them.
/// transformers: examples/pytorch/language-modeling/run_clm.py
std::vector<WrittenFile> write(const TrainingAnswer& answer, const std::string& path) {
  const Spec& spec = answer.spec;
  const std::string accelerate = beside(path, ".accelerate.yaml"), deepspeed = beside(path, ".deepspeed.json");
  const std::string heading = heading_of(answer, "transformers' TrainingArguments");
  Value keys = Value::Map{{"run_name", "tidemark plan: predicted peak " + answer.peak},  // JSON has no comments
                          {"output_dir", "output"},
                          {"model_name_or_path", answer.model},
                          {"torch_dtype", name_of_dtype(spec.dtype)}};
  if (spec.attn == Attention::eager) keys.set("attn_implementation", "eager");
  keys.set("block_size", spec.seq);
  append_training_arguments(spec, deepspeed, keys);
  std::vector<WrittenFile> files{{path, value_to_json(keys)},
                                 {accelerate, as_comment(heading + "accelerate launch --config_file " + accelerate +
                                                         " run_clm.py " + path + "\n") +
                                                  value_to_yaml(accelerate_config(spec))}};
  if (is_zero(spec.parallel)) files.push_back({deepspeed, value_to_json(deepspeed_config(spec))});
  return files;
}

}  // namespace

TrainingFormat format() {
  return {.name = "trainer",
          .title = "transformers' TrainingArguments",
          .version = "5.17.0",
          .signs = {"per_device_train_batch_size", "gradient_accumulation_steps", "output_dir", "num_train_epochs",
                    "max_steps", "learning_rate"},
          .is_base = true,
          .own_signs = {"block_size", "dataset_config_name", "train_file", "validation_file", "model_max_length",
                        "data_path"},
          .read = read,
          .write = write};
}

}  // namespace tidemark::io::training_format_transformers
