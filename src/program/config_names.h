// What families call their sizes (transformers: attribute_map of their configurations).
#pragma once
#include <array>
#include <string_view>

namespace tidemark {

inline constexpr std::array<std::string_view, 4> kLayerNames{"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
/// Of parts that are no language model by themselves.
inline constexpr std::array<std::string_view, 3> kPartLayerNames{"encoder_layers", "decoder_layers", "depth"};
inline constexpr std::array<std::string_view, 4> kWidthNames{"hidden_size", "n_embd", "d_model", "dim"};

}  // namespace tidemark
