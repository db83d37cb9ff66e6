// Tokens that a language model "draws" while it generates text.  Its scores are not known, so neither is the token that
// ends a text: that it never comes, or comes as the N-th, is decided (`--generate-length`), and said.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace tidemark {

/// Fills `tokens`, the positions that were drawn among `columns` scores, while text is generated and these are scores
/// of its vocabulary. A multinomial draw is an argmax within (ATen/native/Distributions.cpp, multinomial: torch 2.6
/// to 2.15), and counts once. Returns what is to be said of it; nothing: these are no tokens.
std::string draw_tokens(const at::Tensor& tokens, std::int64_t columns, bool by_multinomial);

}  // namespace tidemark
