// Frequencies of rotary positions that follow the length of the samples.
// transformers: modeling_rope_utils.py, dynamic_rope_update (5.17.0)
#pragma once
#include "nn/module.h"

namespace tidemark {

struct RopeUpdate {
  enum class Kind { none, dynamic, longrope };
  Kind kind = Kind::none;
  std::int64_t original_length = 0;  // longer samples have frequencies of their own
};

/// What happens to inv_freq before positions are rotated.  position_ids (…, S) are 0 to S - 1.
void update_frequencies(Module& rotary, const RopeUpdate& update, const Tensor& position_ids);

}  // namespace tidemark
