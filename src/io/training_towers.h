// Models with images in trainers' files: sizes of images, frozen towers, adapters of the language model.
#pragma once
#include "io/training_config.h"
#include "io/training_keys.h"

namespace tidemark::io {

bool has_images(TrainingDraft& draft);

/// Images of as many pixels as the limit allows, square, one in each sample; of a model without images nothing.
void take_image_limit(std::string_view name, std::int64_t pixels, TrainingDraft& draft);

/// Pixels of one image token: of a patch, merged with its neighbours; 0 where config.json does not say.
std::int64_t pixels_of_token(const Value& model_config);

/// The parts of a model with images that a trainer freezes.
struct FrozenTowers {
  bool vision = true, projector = true, language = false;
};

/// Freezes them by the names that trainers have for the families.
void freeze_towers(const FrozenTowers& towers, Spec& spec);

/// Keeps adapters of all-linear within the language model, as trainers do that freeze the tower.  `vision_key` names
/// the key that is refused where they would be in the tower too.
void keep_targets_in_language(TrainingKeys& keys, std::string_view vision_key, const FrozenTowers& towers,
                              TrainingDraft& draft);

}  // namespace tidemark::io
