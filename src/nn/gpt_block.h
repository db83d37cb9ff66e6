// GPT-2's block, which others have taken over.
#pragma once
#include "nn/attention.h"
#include "nn/layers.h"

namespace tidemark {

/// transformers: models/gpt2/modeling_gpt2.py, GPT2Block.forward (5.17.0): attention and a feed-forward network one
/// after the other, a norm before each.  What it returns besides are the weights of eager attention.
template <class Inputs>
Attended gpt_block(Module& m, Tensor input, const Inputs& inputs, std::size_t layer,
                   Attended (*attention)(Module& m, Tensor input, const Inputs& inputs, std::size_t layer)) {
  Tensor attn_weights;
  Tensor output = called(m, std::move(input), [&](Tensor hidden_states) {
    Tensor residual = hidden_states;
    hidden_states = m["ln_1"](hidden_states);
    Attended attended = attention(m["attn"], hidden_states, inputs, layer);
    hidden_states = add(attended.output, residual);
    residual = hidden_states;
    hidden_states = m["ln_2"](hidden_states);
    const Tensor feed_forward_hidden_states = chain(m["mlp"], {"c_fc", "act", "c_proj", "dropout"}, hidden_states);
    hidden_states = add(residual, feed_forward_hidden_states);
    attn_weights = std::move(attended.weights);
    return hidden_states;
  });
  return {std::move(output), std::move(attn_weights)};
}

/// What all of them have around their blocks.
template <class Config>
Module& add_gpt_model(Module& m, const Config& c, double embedding_dropout,
                      void (*add_block)(Module& block, const Config& c)) {
  add_embedding(m, "wte", c.vocab_size, c.hidden_size);
  add_embedding(m, "wpe", c.max_position_embeddings, c.hidden_size);
  add_dropout(m, "drop", embedding_dropout);
  add_layers(m, "h", c.num_hidden_layers, add_block, c);
  add_layer_norm(m, "ln_f", c.hidden_size);
  return m;
}

}  // namespace tidemark
