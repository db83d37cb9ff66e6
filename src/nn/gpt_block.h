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
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  Tensor residual = hidden_states;
  hidden_states = m["ln_1"](hidden_states);
  Attended attended = attention(m["attn"], hidden_states, inputs, layer);
  hidden_states = add(attended.output, residual);
  residual = hidden_states;
  hidden_states = m["ln_2"](hidden_states);
  const Tensor feed_forward_hidden_states = chain(m["mlp"], {"c_fc", "act", "c_proj", "dropout"}, hidden_states);
  hidden_states = add(residual, feed_forward_hidden_states);
  return {call.returns(hidden_states), std::move(attended.weights)};
}

}  // namespace tidemark
