// The encoder that BERT made common: attention over everything, add and norm, MLP, add and norm.  Reads like
// transformers/models/bert/modeling_bert.py.
#pragma once
#include "nn/attention.h"
#include "nn/checkpoint.h"
#include "nn/layers.h"

namespace tidemark {

struct PostNormEncoder {
  std::int64_t hidden_size = 768, intermediate_size = 3072, num_hidden_layers = 12, num_attention_heads = 12;
  std::string hidden_act = "gelu";
  double hidden_dropout = 0.1, attention_dropout = 0.1;
};

/// encoder.layer
void add_post_norm_encoder(Module& parent, const PostNormEncoder& config);
Tensor post_norm_encoder(Module& m, const LayerInputs<PostNormEncoder>& inputs, Tensor hidden_states);

/// BertPooler: of the first token.
void add_pooler(Module& parent, std::int64_t features);
Tensor pooler(Module& m, Tensor hidden_states);

/// BertLMPredictionHead: a bias, transform and decoder, both tied to the embedding and the bias or neither.
void add_masked_lm_head(Module& head, const PostNormEncoder& config, Module& embedding, bool tie);
Tensor masked_lm_head(Module& m, Tensor sequence_output);

}  // namespace tidemark
