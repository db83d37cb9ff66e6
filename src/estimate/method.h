// Methods of fine-tuning by name: the fields that each sets where the user does not.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "base/value.h"

namespace tidemark {

inline constexpr std::array<std::string_view, 15> kMethodNames{"none",
                                                               "full",
                                                               "lora",
                                                               "qlora",
                                                               "dora",
                                                               "freeze-vision",
                                                               "projector",
                                                               "trl-full",
                                                               "trl-lora",
                                                               "trl-qlora",
                                                               "trl-dora",
                                                               "transformers-full",
                                                               "transformers-lora",
                                                               "transformers-qlora",
                                                               "transformers-dora"};
enum class Method {
  none,
  full,
  lora,
  qlora,
  dora,
  freeze_vision,
  projector,
  trl_full,
  trl_lora,
  trl_qlora,
  trl_dora,
  transformers_full,
  transformers_lora,
  transformers_qlora,
  transformers_dora
};

/// The keys of a spec that a method sets.  `is_alone`: there is one process, which device_map is for.
Value keys_of_method(Method method, bool is_alone = true);

/// The same in words: "lora.target_modules all-linear, checkpointing non_reentrant".
std::string text_of_method(Method method, bool is_alone);

/// The spec with the keys of its `method` where it has none itself; unchanged where its `method` is not a name.
Value with_method(const Value& spec);

}  // namespace tidemark
