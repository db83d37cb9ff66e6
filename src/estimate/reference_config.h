// What a config.json says that is not of its family: how the weights are stored.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace tidemark {

struct ReferenceConfig {
  Value config;
  std::vector<std::string> assumptions;             // about what was left out
  std::vector<std::string> first_assumptions = {};  // those that move the peak
  Value quantization = {};                          // of weights that train adapters as they are stored; else null
};

/// Throws Error{unsupported} for weights that are stored in a format that is not trained.
ReferenceConfig as_transformers_reads(const Value& config);

/// Whether transformers asks every configuration for the key, or it is of no matter to a training.
bool is_of_every_class(std::string_view key);

}  // namespace tidemark
