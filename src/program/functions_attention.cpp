// Attention as torch has it.
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

constexpr Function kFunctions[] = {
    {"scaled_dot_product_attention", "query key value attn_mask dropout_p is_causal scale enable_gqa",
     attention_call},
};

}  // namespace

std::span<const Function> attention_functions() { return kFunctions; }

}  // namespace tidemark
