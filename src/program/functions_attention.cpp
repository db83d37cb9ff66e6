// Attention as torch has it.
#include "nn/multihead_attention.h"
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

Tensors attention_call(FunctionCall& call) {
  const AttentionOptions options{
      .causal = call.flag_or(5, false), .enable_gqa = call.flag_or(7, false), .dropout = call.real_or(4, 0)};
  return {scaled_dot_product_attention(call.tensor(0), call.tensor(1), call.tensor(2), call.tensor_if_given(3),
                                       options)};
}

/// As nn.MultiheadAttention calls it where keys are values.
Tensors multihead_call(FunctionCall& call) {
  const Tensor query = call.tensor(0), key = call.tensor(1);
  call.require(key.is(call.tensor(2)), "other values than keys");
  call.require(!call.given(7) && !call.given(8) && call.real_or(10, 0) == 0 && !call.given(14) && !call.given(16),
               "biases, masks or dropout");
  call.require(call.flag_or(15, true), "need_weights=False");
  const auto out_proj = [&](Tensor x) { return linear(std::move(x), call.tensor(11), call.tensor_if_given(12)); };
  MultiheadResult result =
      multi_head_attention_forward(query, key, call.tensor(5), call.tensor(6), call.integer(4), out_proj);
  return {std::move(result.output), std::move(result.weights)};
}

constexpr Function kAttentionFunctions[] = {
    {"multi_head_attention_forward",
     "query key value embed_dim_to_check num_heads in_proj_weight in_proj_bias bias_k bias_v add_zero_attn dropout_p "
     "out_proj_weight out_proj_bias training key_padding_mask need_weights attn_mask use_separate_proj_weight "
     "q_proj_weight k_proj_weight v_proj_weight static_k static_v average_attn_weights is_causal",
     multihead_call},
    {"scaled_dot_product_attention", "query key value attn_mask dropout_p is_causal scale enable_gqa",
     attention_call},
};

}  // namespace

std::span<const Function> attention_functions() { return kAttentionFunctions; }

}  // namespace tidemark
