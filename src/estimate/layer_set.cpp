#include "estimate/layer_set.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/number.h"
#include "base/value.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMostLayers = 1 << 16;

std::optional<std::int64_t> read_layer(std::string_view text) {
  const auto layer = parse_number<std::int64_t>(text);
  return layer && *layer >= 0 && *layer < kMostLayers ? layer : std::nullopt;
}

}  // namespace

LayerRanges parse_layers(const std::vector<std::string>& texts) {
  LayerRanges ranges;
  for (const std::string& text : texts) {
    const std::string_view all = text;
    const std::size_t dash = all.find('-');
    const auto first = read_layer(all.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : read_layer(all.substr(dash + 1));
    if (!first || !last || *first > *last)
      throw Error(Errc::bad_value, fmt::format("{} is no layer and no range of layers", Value(text).quoted()), {},
                  fmt::format("write 7 or 0-3, below {}", kMostLayers));
    ranges.emplace_back(*first, *last);
  }
  return ranges;
}

std::vector<std::string> layers_to_texts(const std::vector<std::int64_t>& layers) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    texts.push_back(end - i == 1 ? fmt::format("{}", layers[i]) : fmt::format("{}-{}", layers[i], layers[end - 1]));
    i = end;
  }
  return texts;
}

}  // namespace tidemark
