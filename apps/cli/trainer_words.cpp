#include "trainer_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark::cli {
namespace {

/// `means`: words in its place, where "" stands for its value.  Without a value it is a flag.
struct TrainerWord {
  std::string_view name;
  std::vector<std::string_view> means;
};

/// transformers: training_args.py (5.24.0); trl: trainer/model_config.py (1.16.0); LLaMA-Factory, axolotl, ms-swift.
const std::vector<TrainerWord>& trainer_words() {
  static const std::vector<TrainerWord> words{
      {"--model", {""}},
      {"--model-id", {""}},
      {"--model-name-or-path", {""}},
      {"--batch-size", {"--batch", ""}},
      {"--micro-batch-size", {"--batch", ""}},
      {"--per-device-train-batch-size", {"--batch", ""}},
      {"--cutoff-len", {"--seq", ""}},
      {"--max-length", {"--seq", ""}},
      {"--max-seq-len", {"--seq", ""}},
      {"--max-seq-length", {"--seq", ""}},
      {"--seq-len", {"--seq", ""}},
      {"--prompt", {"--seq", ""}},
      {"--max-new-tokens", {"--generate", ""}},
      {"--seq-length", {"--seq", ""}},
      {"--sequence-len", {"--seq", ""}},
      {"--sequence-length", {"--seq", ""}},
      {"--gradient-accumulation-steps", {"--grad-accumulation", ""}},
      {"--lora-rank", {"--lora-r", ""}},
      {"--lora-target", {"--lora-target-modules", ""}},
      {"--use-dora", {"--lora-use-dora"}},
      {"--use-lora", {"--lora"}},
      {"--use-peft", {"--lora"}},
      {"--beta", {"--grpo-beta", ""}},
      {"--loss-type", {"--grpo-loss-type", ""}},
      {"--max-completion-length", {"--grpo-max-completion-length", ""}},
      {"--num-generations", {"--grpo-num-generations", ""}},
      {"--use-vllm", {"--grpo-use-vllm"}},
      {"--vllm-gpu-memory-utilization", {"--grpo-vllm-gpu-memory-utilization", ""}},
      {"--bf16", {"--autocast", "bf16"}},
      {"--activation-checkpointing", {"--checkpointing", "non_reentrant"}},
      {"--gradient-checkpointing", {"--checkpointing", "non_reentrant"}},
      {"--load-in-8bit", {"--quantization-load-in-8bit"}},
      // As trainers ask bitsandbytes for it.  trl: trainer/utils.py, get_quantization_config (1.16.0)
      {"--load-in-4bit", {"--quantization-quant-type", "nf4", "--quantization-compute-dtype", "bf16"}},
  };
  return words;
}

bool takes_value(const TrainerWord& word) {
  return std::find(word.means.begin(), word.means.end(), "") != word.means.end();
}

bool is_truth(const std::string& word) {
  constexpr std::array<std::string_view, 4> kTruths{"true", "True", "false", "False"};
  return std::find(kTruths.begin(), kTruths.end(), word) != kTruths.end();
}

/// "--lora_r=8" as a name and, behind its "=", a value.
struct Option {
  std::string name, value;
  bool has_value = false;
};

Option option_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  Option option{.name = word.substr(0, equals), .value = {}, .has_value = equals != std::string::npos};
  if (option.has_value) option.value = word.substr(equals + 1);
  std::replace(option.name.begin(), option.name.end(), '_', '-');
  return option;
}

}  // namespace

std::vector<std::string> in_own_words(const std::vector<std::string>& words) {
  std::vector<std::string> own;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      own.push_back(words[i]);
      continue;
    }
    Option option = option_of(words[i]);
    const auto& known = trainer_words();
    const auto word =
        std::find_if(known.begin(), known.end(), [&](const TrainerWord& one) { return one.name == option.name; });
    if (word == known.end()) {
      own.push_back(option.has_value ? option.name + "=" + option.value : option.name);
      continue;
    }
    const bool has_next = i + 1 < words.size();
    if (!option.has_value && has_next && (takes_value(*word) || is_truth(words[i + 1]))) {
      option.value = words[++i];
      option.has_value = true;
    }
    if (!takes_value(*word) && (option.value == "false" || option.value == "False")) continue;
    for (const std::string_view part : word->means) own.emplace_back(part.empty() ? option.value : std::string(part));
  }
  return own;
}

}  // namespace tidemark::cli
