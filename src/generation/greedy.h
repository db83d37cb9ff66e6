// generate() of transformers without sampling: the prompt's forward pass, then one of each new token beside a cache.
#pragma once
#include <cstdint>
#include <functional>

#include "nn/model.h"

namespace tidemark {

enum class GenerationPhase : std::uint8_t { prefill, decode };

struct Generation {
  std::int64_t batch = 1, prompt_tokens = 1, new_tokens = 1;
  bool has_position_ids = true;  // the model's forward takes them
  bool has_bos = true, has_pad = false;
  std::int64_t eos_tokens = 1;  // any of which ends a sequence; 0: none does
  bool penalizes_repetition = false;
};

/// A phase begins.
using GenerationObserver = std::function<void(GenerationPhase)>;

/// No text ends early.  Returns the bytes of the cache behind the last token.  Throws DeviceOutOfMemory, Error.
/// transformers: generation/utils.py, GenerationMixin.generate, _sample (5.24.0)
std::int64_t generate_greedily(Run& run, Model& model, const Generation& generation,
                               const GenerationObserver& observer);

}  // namespace tidemark
