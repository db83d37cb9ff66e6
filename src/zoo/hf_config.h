// What the config.json files of all families have in common.
#pragma once
#include "base/fields.h"

namespace tidemark {

// What a number of a config may be; beyond it a tensor's size would overflow.
inline constexpr FieldInfo kSize{.low = 1, .high = 1 << 26};
inline constexpr FieldInfo kLayers{.low = 0, .high = 1 << 12};
inline constexpr FieldInfo kProbability{.low = 0, .high = 1};
inline constexpr FieldInfo kAny{};

/// Keys of transformers' PreTrainedConfig that do not change memory in training.
KeyNames harmless_config_keys();

/// Reads a family's config: its own fields, and the common ones.  Throws Error{unknown_name} for any other key.
template <HasFields T>
T read_config(const Value& value) {
  T config;
  read_fields(value, config, "config.json", harmless_config_keys());
  return config;
}

}  // namespace tidemark
