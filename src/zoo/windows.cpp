#include "zoo/windows.h"

#include <fmt/format.h>

#include "base/error.h"
#include "zoo/hf_config.h"

namespace tidemark {

void set_layer_types(Decoder& decoder, const std::optional<std::vector<std::string>>& layer_types,
                     std::optional<std::int64_t> window, bool (*slides)(std::int64_t layer, std::int64_t from),
                     std::int64_t from) {
  bool any = false;
  if (layer_types && std::ssize(*layer_types) != decoder.num_hidden_layers)
    throw Error(
        Errc::bad_value,
        fmt::format("it names {} layers, and num_hidden_layers is {}", layer_types->size(), decoder.num_hidden_layers),
        "config.json: layer_types");
  for (std::int64_t i = 0; i < decoder.num_hidden_layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    bool sliding = window && slides(i, from);
    if (layer_types) {
      const std::string& type = (*layer_types)[at];
      refuse(type != "sliding_attention" && type != "full_attention", "layer_types", type);
      sliding = type == "sliding_attention";
    }
    refuse(sliding && !window, "layer_types", "sliding_attention without sliding_window");
    decoder.sliding_layers.push_back(sliding);
    any = any || sliding;
  }
  if (any) decoder.sliding_window = window;
}

Decoder LateWindowsConfig::decoder() const {
  Decoder decoder = DecoderConfig::decoder();
  set_layer_types(
      decoder, layer_types, use_sliding_window.value_or(false) ? sliding_window : std::nullopt,
      [](std::int64_t layer, std::int64_t from) { return layer >= from; }, max_window_layers);
  return decoder;
}

}  // namespace tidemark
