// A config.json as the class of its family in transformers sees it.
#pragma once
#include <string>
#include <vector>

#include "base/value.h"

namespace tidemark {

struct ReferenceConfig {
  Value config;
  std::vector<std::string> assumptions;  // about what was left out
};

/// Leaves out keys that nothing in transformers reads: they change nothing there, and nothing here.  A configuration of
/// a family that is not known keeps all its keys.  Throws Error{unsupported} for weights that are stored in a format
/// that is not trained.
ReferenceConfig as_transformers_reads(const Value& config);

}  // namespace tidemark
