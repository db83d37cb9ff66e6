// Positions in three dimensions (frame, row, column), as Qwen2-VL gives them to tokens, and their rotation.
// transformers: models/qwen2_vl/modeling_qwen2_vl.py (5.17.0)
#pragma once
#include "nn/attention.h"
#include "nn/model.h"

namespace tidemark {

/// Where images stand in a sample, as in the chats of the processor: each between a token that opens it and one that
/// closes it, and the text behind the last.
struct ImageTokens {
  std::int64_t images = 0, tokens = 0;  // of a sample, of an image
  std::int64_t length() const { return images * (tokens + 2); }
};

struct RopeIndex {
  Tensor position_ids, deltas;  // (3, B, S), (B, 1)
};

/// Qwen2VLModel.get_rope_index: both inputs are read on the host, and one sample after another gets its positions.
RopeIndex get_rope_index(const Batch& batch, const ImageTokens& layout, std::int64_t merge_size);

/// Qwen2VLRotaryEmbedding.forward: position_ids (3, B, S) -> (B, S, D); `sections` of half a head take turns.
Rotary multimodal_rotary_embedding(Module& m, const Tensor& like, Tensor position_ids, const Dims& sections);

}  // namespace tidemark
