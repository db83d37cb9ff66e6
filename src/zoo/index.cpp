#include "zoo/index.h"

#include <algorithm>
#include <iterator>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "zoo/checks.h"
#include "zoo/hf_config.h"

namespace tidemark {
namespace {

const ModelEntry kEntries[] = {
    {"llama",
     "Llama 1 to 3, and what is built like them",
     {{"causal_lm", "LlamaForCausalLM"}, {"sequence_classification", "LlamaForSequenceClassification"}},
     make_llama},
    {"mistral",
     "Mistral, with or without a window",
     {{"causal_lm", "MistralForCausalLM"}, {"sequence_classification", "MistralForSequenceClassification"}},
     make_mistral},
    {"mixtral",
     "Mixtral: Mistral with experts",
     {{"causal_lm", "MixtralForCausalLM"}, {"sequence_classification", "MixtralForSequenceClassification"}},
     make_mixtral},
    {"olmoe", "OLMoE", {{"causal_lm", "OlmoeForCausalLM"}}, make_olmoe},
    {"phi3",
     "Phi 3 and 4, and their long versions",
     {{"causal_lm", "Phi3ForCausalLM"}, {"sequence_classification", "Phi3ForSequenceClassification"}},
     make_phi3},
    {"qwen2",
     "Qwen 2 and 2.5",
     {{"causal_lm", "Qwen2ForCausalLM"}, {"sequence_classification", "Qwen2ForSequenceClassification"}},
     make_qwen2},
    {"qwen2_moe",
     "Qwen 2 and 1.5 with experts",
     {{"causal_lm", "Qwen2MoeForCausalLM"}, {"sequence_classification", "Qwen2MoeForSequenceClassification"}},
     make_qwen2_moe},
    {"qwen2_vl",
     "Qwen2-VL: images of any size, and Qwen 2",
     {{"image_text_to_text", "Qwen2VLForConditionalGeneration"}},
     make_qwen2_vl},
    {"qwen3",
     "Qwen 3",
     {{"causal_lm", "Qwen3ForCausalLM"}, {"sequence_classification", "Qwen3ForSequenceClassification"}},
     make_qwen3},
    {"qwen3_moe",
     "Qwen 3 with experts",
     {{"causal_lm", "Qwen3MoeForCausalLM"}, {"sequence_classification", "Qwen3MoeForSequenceClassification"}},
     make_qwen3_moe},
};

}  // namespace

std::span<const ModelEntry> model_entries() { return kEntries; }

bool is_written_family(std::string_view model_type) {
  const auto is_it = [&](const ModelEntry& entry) { return model_type == entry.model_type; };
  return std::any_of(std::begin(kEntries), std::end(kEntries), is_it);
}

const ModelEntry& model_entry(const std::string& model_type) {
  std::vector<std::string> known;
  for (const ModelEntry& entry : kEntries) {
    if (entry.model_type == model_type) return entry;
    known.push_back(entry.model_type);
  }
  throw Error(Errc::unsupported, "no model type \"" + model_type + "\" here", "config.json: model_type",
              did_you_mean(model_type, known) + " (`tidemark models` lists them)");
}

}  // namespace tidemark
