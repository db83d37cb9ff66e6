#include "nn/embeddings.h"

#include <algorithm>

namespace tidemark {

bool is_input_embedding(const Module& module) {
  constexpr std::string_view kNames[] = {"embed_tokens",    "wte",         "embed_in",       "word_embeddings",
                                         "patch_embedding", "patch_embed", "token_embedding"};
  return std::find(std::begin(kNames), std::end(kNames), module.name()) != std::end(kNames);
}

bool is_output_embedding(const Module& module) {
  if (module.is_output_embedding) return *module.is_output_embedding;
  const std::string& full_name = module.full_name();
  return full_name == "embed_out" || full_name == "output_projection" || full_name == "decoder" ||
         full_name.ends_with("lm_head") || full_name.ends_with("lm_head.decoder") ||
         full_name == "cls.predictions.decoder";
}

}  // namespace tidemark
