// Which layers attend to a window only.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "nn/decoder.h"
#include "zoo/text_config.h"

namespace tidemark {

/// `layer_types` of a config, or what the family says of each layer when there is none.  Leaves the decoder without a
/// window when no layer has one.  Throws Error{unsupported} for kinds of layers that are not attention.
void set_layer_types(Decoder& decoder, const std::optional<std::vector<std::string>>& layer_types,
                     std::optional<std::int64_t> window, bool (*slides)(std::int64_t layer, std::int64_t from),
                     std::int64_t from);

/// Qwen 2 and 3: from layer `max_window_layers` on there is a window, if it is asked for.
struct LateWindowsConfig : DecoderConfig {
  std::optional<bool> use_sliding_window = false;
  std::optional<std::int64_t> sliding_window = 4096;
  std::int64_t max_window_layers = 28;
  std::optional<std::vector<std::string>> layer_types;

  LateWindowsConfig() {
    vocab_size = 151936, hidden_size = 4096, intermediate_size = 22016, num_hidden_layers = 32;
    num_attention_heads = 32, num_key_value_heads = 32;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit("sliding_window", c.sliding_window, kWindow);
    visit_all(visit, kAny, "use_sliding_window", c.use_sliding_window, "max_window_layers", c.max_window_layers,
              "layer_types", c.layer_types);
  }
  Decoder decoder() const;
};

}  // namespace tidemark
