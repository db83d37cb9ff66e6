// Attention as torch has it.
#include "nn/multihead_attention.h"
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

Tensors attention_call(FunctionCall& call) {
  const AttentionOptions options{
      .causal = call.flag_or(5, false), .enable_gqa = call.flag_or(7, false), .dropout = call.dropout_or(4, 0)};
  return {
      scaled_dot_product_attention(call.tensor(0), call.tensor(1), call.tensor(2), call.tensor_if_given(3), options)};
}

/// Where keys are values.
Tensors multihead_call(FunctionCall& call) {
  const bool apart = call.flag_or(17, false);
  call.require(call.tensor(1).is(call.tensor(2)), "other values than keys");
  call.require(!call.given(7) && !call.given(8), "biases of keys and values");
  call.require(call.flag_or(15, true), "need_weights=False");
  const MultiheadArguments given{
      .query = call.tensor(0),
      .key = call.tensor(1),
      .weight = apart ? Tensor() : call.tensor(5),
      .q_weight = call.tensor_if_given(18),
      .k_weight = call.tensor_if_given(19),
      .v_weight = call.tensor_if_given(20),
      .bias = call.tensor(6),
      .key_padding_mask = call.tensor_if_given(14),
      .attn_mask = call.tensor_if_given(16),
      .heads = call.integer(4),
      .dropout = call.flag_or(13, true) ? call.dropout_or(10, 0) : 0,
      .out_proj = [&](Tensor x) { return linear(std::move(x), call.tensor(11), call.tensor_if_given(12)); }};
  call.require(!given.attn_mask || (is_floating(given.attn_mask.dtype()) && given.attn_mask.sizes().count() == 3),
               "a mask that is not of all heads, and numbers");
  MultiheadResult result = multi_head_attention_forward(given);
  return {std::move(result.output), std::move(result.weights)};
}

constexpr Function kAttentionFunctions[] = {
    {"multi_head_attention_forward",
     "query key value embed_dim_to_check num_heads in_proj_weight in_proj_bias bias_k bias_v add_zero_attn dropout_p "
     "out_proj_weight out_proj_bias training key_padding_mask need_weights attn_mask use_separate_proj_weight "
     "q_proj_weight k_proj_weight v_proj_weight static_k static_v average_attn_weights is_causal",
     multihead_call},
    {"scaled_dot_product_attention", "query key value attn_mask dropout_p is_causal scale enable_gqa", attention_call},
};

}  // namespace

std::span<const Function> attention_functions() { return kAttentionFunctions; }

}  // namespace tidemark
