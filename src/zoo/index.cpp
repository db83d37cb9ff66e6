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
    {"clip", "CLIP: images and captions", {{"contrastive", "CLIPModel"}}, make_clip},
    {"clip_vision_model", "CLIP's image half, as a part of others", {}, nullptr, nullptr, clip_vision_tower},
    {"gpt_neo",
     "GPT-Neo",
     {{"causal_lm", "GPTNeoForCausalLM"}, {"sequence_classification", "GPTNeoForSequenceClassification"}},
     make_gpt_neo,
     nullptr,
     nullptr,
     false},
    {"gpt_neox",
     "GPT-NeoX and Pythia",
     {{"causal_lm", "GPTNeoXForCausalLM"}, {"sequence_classification", "GPTNeoXForSequenceClassification"}},
     make_gpt_neox},
    {"llama",
     "Llama 1 to 3, and what is built like them",
     {{"causal_lm", "LlamaForCausalLM"}, {"sequence_classification", "LlamaForSequenceClassification"}},
     make_llama,
     llama_decoder},
    {"llava",
     "LLaVA: a vision tower, a projector and a language model",
     {{"image_text_to_text", "LlavaForConditionalGeneration"}},
     make_llava},
    {"mistral",
     "Mistral, with or without a window",
     {{"causal_lm", "MistralForCausalLM"}, {"sequence_classification", "MistralForSequenceClassification"}},
     make_mistral,
     mistral_decoder},
    {"mixtral",
     "Mixtral: Mistral with experts",
     {{"causal_lm", "MixtralForCausalLM"}, {"sequence_classification", "MixtralForSequenceClassification"}},
     make_mixtral},
    {"olmoe", "OLMoE", {{"causal_lm", "OlmoeForCausalLM"}}, make_olmoe},
    {"opt",
     "OPT",
     {{"causal_lm", "OPTForCausalLM"}, {"sequence_classification", "OPTForSequenceClassification"}},
     make_opt},
    {"phi3",
     "Phi 3 and 4, and their long versions",
     {{"causal_lm", "Phi3ForCausalLM"}, {"sequence_classification", "Phi3ForSequenceClassification"}},
     make_phi3,
     phi3_decoder},
    {"qwen2",
     "Qwen 2 and 2.5",
     {{"causal_lm", "Qwen2ForCausalLM"}, {"sequence_classification", "Qwen2ForSequenceClassification"}},
     make_qwen2,
     qwen2_decoder},
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
     make_qwen3,
     qwen3_decoder},
    {"qwen3_moe",
     "Qwen 3 with experts",
     {{"causal_lm", "Qwen3MoeForCausalLM"}, {"sequence_classification", "Qwen3MoeForSequenceClassification"}},
     make_qwen3_moe},
    {"siglip", "SigLIP: images and captions", {{"contrastive", "SiglipModel"}}, make_siglip},
    {"siglip_vision_model", "SigLIP's image half, as a part of others", {}, nullptr, nullptr, siglip_vision_tower},
    {"vit", "Vision transformer", {{"image_classification", "ViTForImageClassification"}}, make_vit},
};

const ModelEntry& part_entry(const Value& config, const char* part, const char* usual_type) {
  const Value* type = config.find("model_type");
  return model_entry(type ? to_text(*type, ValuePath("config.json", part) / "model_type") : usual_type);
}

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

Decoder text_part(const Value& config, const char* usual_type) {
  const ModelEntry& entry = part_entry(config, "text_config", usual_type);
  if (!entry.decoder)
    throw Error(Errc::unsupported, std::string(entry.model_type) + " as the language model of another model",
                "config.json: text_config");
  try {
    Decoder decoder = entry.decoder(config);
    check_decoder(decoder);
    return decoder;
  } catch (const Error& error) {  // of the family's own reader, which does not know that it reads a part
    const std::string file = "config.json: ";
    if (!error.where().starts_with(file)) throw;
    throw Error(error.code(), error.message(), file + "text_config." + error.where().substr(file.size()), error.hint());
  }
}

VisionTower vision_part(const Value& config, const char* usual_type) {
  const ModelEntry& entry = part_entry(config, "vision_config", usual_type);
  if (!entry.vision_tower)
    throw Error(Errc::unsupported, std::string(entry.model_type) + " as the vision tower of another model",
                "config.json: vision_config");
  return entry.vision_tower(config);
}

}  // namespace tidemark
