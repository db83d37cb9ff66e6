#include "zoo/checks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "zoo/hf_config.h"

namespace tidemark {
namespace {

[[noreturn]] void fail(std::string_view key, std::string message, std::string hint = {}) {
  throw Error(Errc::bad_value, std::move(message), "config.json: " + std::string(key), std::move(hint));
}

[[noreturn]] void fail_data(const char* field, std::string message, std::string hint = {}) {
  throw Error(Errc::bad_value, std::move(message), field, std::move(hint));
}

/// The nearest number that divides `whole`.
std::int64_t nearest_divisor(std::int64_t whole, std::int64_t number) {
  for (std::int64_t away = 1;; ++away) {
    if (number - away >= 1 && whole % (number - away) == 0) return number - away;
    if (number + away >= whole) return std::min(number, whole);
    if (whole % (number + away) == 0) return number + away;
  }
}

}  // namespace

void check_divides(const Keyed& whole, const Keyed& parts) {
  if (whole.value % parts.value == 0) return;
  fail(parts.key,
       fmt::format("{} = {} cannot be cut into {} = {} equal parts", whole.key, whole.value, parts.key, parts.value),
       fmt::format("{} would do", nearest_divisor(whole.value, std::min(parts.value, whole.value + 1))));
}

void check_rotary(const Keyed& rotated) {
  if (rotated.value > 0 && rotated.value % 2 == 0) return;
  fail(rotated.key,
       fmt::format("rotary positions turn pairs of numbers, and {} numbers of a head make none", rotated.value),
       "hidden_size / num_attention_heads, or head_dim, must be even");
}

void check_decoder(const Decoder& c) {
  check_divides({"num_attention_heads", c.num_attention_heads}, {"num_key_value_heads", c.num_key_value_heads});
  check_rotary({"head_dim", c.rotary_dim != 0 ? c.rotary_dim : c.head_dim});
  check_padding_index(c.pad_token_id, c.vocab_size);
  refuse(!c.is_causal && (c.sliding_window || c.layer), "is_causal", "false, beside windows or layers of its own,");
  if (c.experts.per_token > c.experts.count)
    fail("num_experts_per_tok", fmt::format("{} of {} experts for each token", c.experts.per_token, c.experts.count),
         "torch.topk takes at most all of them");
}

void check_padding_index(std::optional<std::int64_t> index, std::int64_t vocab_size) {
  if (!index || (-vocab_size <= *index && *index < vocab_size)) return;
  fail("pad_token_id", fmt::format("{} is not among the {} tokens of vocab_size", *index, vocab_size),
       "torch.nn.Embedding refuses it: write a smaller one, or null");
}

void check_no_images(const Data& data) {
  const char* field = data.images > 0         ? "images"
                      : data.image_height > 0 ? "image_size"
                      : data.image_tokens     ? "image_tokens"
                                              : nullptr;
  if (field) fail_data(field, "the model takes no images");
}

}  // namespace tidemark
