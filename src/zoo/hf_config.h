// What the config.json files of all families have in common.
#pragma once
#include "base/error.h"
#include "base/fields.h"
#include "nn/rope.h"

namespace tidemark {

// What a number of a config may be; beyond it a tensor's size would overflow.
inline constexpr FieldInfo kSize{.low = 1, .high = 1 << 26};
inline constexpr FieldInfo kWindow{.low = 0, .high = kSize.high};  // 0, as Qwen2MoeConfig writes it, is none
inline constexpr FieldInfo kLayers{.low = 0, .high = 1 << 12};
inline constexpr FieldInfo kProbability{.low = 0, .high = 0.999};  // of dropout, which at 1 leaves nothing to train
inline constexpr FieldInfo kShare{.low = 0, .high = 1};
inline constexpr FieldInfo kAny{};

/// visit(name, field, info) for each pair of a name and a field.
template <class Visit, class Field, class... Rest>
void visit_all(Visit& visit, const FieldInfo& info, std::string_view name, Field& field, Rest&... rest) {
  visit(name, field, info);
  if constexpr (sizeof...(rest) > 0) visit_all(visit, info, rest...);
}

/// How positions are rotated: `rope_parameters`, or `rope_scaling` and `rope_theta` of older files.
struct RopeConfig {
  Value rope_parameters, rope_scaling;
  double partial_rotary_factor = 1;

  template <class Self, class Visit>
  static void visit_fields(Self& c, Visit&& visit) {
    visit("rope_parameters", c.rope_parameters, kAny);
    visit("rope_scaling", c.rope_scaling, kAny);
  }
  /// Types that older files call otherwise.
  void rename_type(std::initializer_list<const char*> older, const char* name);
  /// How much of a head is rotated.
  std::int64_t rotary_dim(std::int64_t head_dim) const;
  /// What the type of the positions asks for while training.  Throws Error{unsupported} for types that transformers
  /// does not know.
  RopeUpdate update(std::int64_t head_dim, std::int64_t max_position_embeddings) const;

 private:
  /// rope_scaling or rope_parameters, and what it is called.
  std::pair<const Value&, ValuePath> map() const;
};

/// Throws Error{unsupported} when `is`, naming the key.
void refuse(bool is, std::string_view key, std::string_view value);

/// Keys of transformers' PreTrainedConfig that do not change memory in training.
KeyNames harmless_config_keys();

/// Throws what a reader of a family's fields threw, worded for a key that transformers reads and the family does not.
[[noreturn]] void fail_reading(const Error& error);

/// Reads a family's config, of which as_transformers_reads() has left what transformers reads: its own fields, and the
/// common ones.  Throws Error{unsupported} for any other key.
template <HasFields T>
T read_config(const Value& value) {
  T config;
  try {
    read_fields(value, config, "config.json", harmless_config_keys());
  } catch (const Error& error) {
    fail_reading(error);
  }
  return config;
}

}  // namespace tidemark
