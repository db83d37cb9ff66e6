// What a config or its data may not be although each number alone is fine: transformers 5.17.0 or PyTorch 2.11.0 would
// raise, too, when the model is built or run.  All throw Error{bad_value} naming the key and what would be valid.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "nn/decoder.h"
#include "nn/model.h"

namespace tidemark {

/// A number of a config with the key it stands under.
struct Keyed {
  std::string_view key;
  std::int64_t value = 0;
};

/// `whole` is cut into `parts` equal parts: a width into heads.
void check_divides(const Keyed& whole, const Keyed& parts);
/// Rotary positions turn pairs of numbers.
void check_rotary(const Keyed& rotated);
/// Heads of queries and of keys, positions, padding.
void check_decoder(const Decoder& decoder);
/// nn.Embedding(vocab_size, …, padding_idx)
void check_padding_index(std::optional<std::int64_t> pad_token_id, std::int64_t vocab_size);
/// Data with images for a model that takes none.
void check_no_images(const Data& data);

}  // namespace tidemark
