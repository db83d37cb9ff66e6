// Keys of generate(): those of generation_config.json, or of config.json where that file is missing.
#pragma once
#include <cstdint>

#include "base/value.h"
#include "estimate/spec.h"

namespace tidemark {

/// Settings of generate(do_sample=False).
struct GenerationConfig {
  bool has_bos = true, has_pad = false;
  std::int64_t eos_tokens = 1;  // any of which ends a sequence; 0: none does
  bool penalizes_repetition = false;
  bool has_cache_off = false;  // by use_cache of config.json
};

/// transformers: generation/utils.py, adjust_generation_fn; generation/configuration_utils.py, from_model_config
/// (5.24.0).  Throws Error{unsupported} of a key that makes generate() do more than the simulation follows.
GenerationConfig generation_config_of(const Spec& spec, const Value& model_config);

}  // namespace tidemark
