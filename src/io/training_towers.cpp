#include "io/training_towers.h"

#include <fmt/format.h>

#include <cmath>

#include "program/model.h"

namespace tidemark::io {
namespace {

// llamafactory: model/model_utils/visual.py, COMPOSITE_MODELS (0.9.5); swift/model/model_arch.py (4.6.0)
constexpr const char* kTowers =
    "visual|vision_tower|vision_model|vision_embed_tokens|audio_tower|multi_modal_projector|"
    "embed_vision|aligner|connector|modality_projection|lm_head";
/// Linear modules of language models in transformers, by the last part of their names.
constexpr const char* kLanguageLinears =
    "q_proj|k_proj|v_proj|o_proj|out_proj|qkv_proj|gate_proj|up_proj|down_proj|gate_up_proj|fc1|fc2|in_proj_qkv|"
    "in_proj_z|in_proj_a|in_proj_b|in_proj_qkvz|in_proj_ba|q_a_proj|q_b_proj|kv_a_proj_with_mqa|kv_b_proj";

}  // namespace

bool has_images(TrainingDraft& draft) { return draft.model_config().find("vision_config") != nullptr; }

std::int64_t pixels_of_token(const Value& model_config) {
  auto [side, merged] = image_patches_of(model_config);
  const Value* type = model_config.find("model_type");
  const bool is_qwen2 = type && type->as_text() && type->as_text()->starts_with("qwen2");
  if (side == 0 && is_qwen2) side = 14;  // Qwen2VLVisionConfig's own, which files may leave out
  if (merged == 0 && is_qwen2) merged = 2;
  return side * side * merged * merged;
}

void take_image_limit(std::string_view name, std::int64_t pixels, TrainingDraft& draft) {
  const Value& config = draft.model_config();
  if (!config.find("vision_config")) return;
  if (!draft.files.said.find("images")) draft.spec.images = 1;
  const std::int64_t token = pixels_of_token(config);
  if (token == 0 || pixels <= 0)
    return draft.assume(
        fmt::format("{} is not read: the model has one size of images; each sample has one (--images N)", name));
  const std::int64_t side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(token)));
  const std::int64_t size = static_cast<std::int64_t>(std::sqrt(static_cast<double>(pixels))) / side * side;
  draft.spec.image_size = fmt::format("{}", std::max(size, side));
  draft.assume(
      fmt::format("an image has {0} x {0} pixels, a square within {1}, {2} (--image-size); each sample has {3}",
                  std::max(size, side), name, pixels,
                  draft.files.said.find("images") ? "as many as --images says" : "one (--images N)"));
}

void freeze_towers(const FrozenTowers& towers, Spec& spec) {
  std::vector<std::string>& freeze = spec.freeze;
  if (towers.vision)
    freeze.insert(freeze.end(),
                  {"vision_tower", "vision_model", "visual.patch_embed", "visual.pos_embed", "visual.blocks"});
  if (towers.projector)
    freeze.insert(freeze.end(), {"multi_modal_projector", "visual.merger", "visual.deepstack_merger_list"});
  if (towers.language) freeze.insert(freeze.end(), {"language_model", "lm_head"});
}

void keep_targets_in_language(TrainingKeys& keys, std::string_view vision_key, const FrozenTowers& towers,
                              TrainingDraft& draft) {
  if (!towers.vision || !towers.projector)
    keys.refuse(vision_key, "adapters outside of the language model are not predicted", {"true", Takes::less});
  TextOrList& targets = draft.spec.lora->target_modules;
  if (const auto* text = std::get_if<std::string>(&targets); text && *text == "all-linear")
    targets = fmt::format("(?!.*({})).*\\.({})", kTowers, kLanguageLinears);
}

}  // namespace tidemark::io
