// Which layers are meant, as texts: "0-3", "7".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "nn/context.h"

namespace tidemark {

/// Reads numbers and ranges.  Throws Error{bad_value}.
LayerRanges parse_layers(const std::vector<std::string>& texts);

/// The shortest texts that stand for `layers`, which ascend.
std::vector<std::string> layers_to_texts(const std::vector<std::int64_t>& layers);

}  // namespace tidemark
