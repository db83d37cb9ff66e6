// Which layers attend to a window only.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "nn/decoder.h"

namespace tidemark {

/// `layer_types` of a config, or what the family says of each layer when there is none.  Leaves the decoder without a
/// window when no layer has one.  Throws Error{unsupported} for kinds of layers that are not attention.
void set_layer_types(Decoder& decoder, const std::optional<std::vector<std::string>>& layer_types,
                     std::optional<std::int64_t> window, bool (*slides)(std::int64_t layer, std::int64_t from),
                     std::int64_t from);

}  // namespace tidemark
