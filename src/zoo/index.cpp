#include "zoo/index.h"

#include "base/did_you_mean.h"
#include "base/error.h"

namespace tidemark {
namespace {

const ModelEntry kEntries[] = {
    {"clip", "CLIP: images and captions", {"contrastive"}, make_clip},
    {"clip_vision_model", "CLIP's image half, as a part of others", {}, nullptr, nullptr, clip_vision_tower},
    {"llama", "Llama 1 to 3, and what is built like them", {"causal_lm"}, make_llama, llama_decoder},
    {"llava", "LLaVA: a vision tower, a projector and a language model", {"image_text_to_text"}, make_llava},
    {"vit", "Vision transformer", {"image_classification"}, make_vit},
};

}  // namespace

std::span<const ModelEntry> model_entries() { return kEntries; }

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
