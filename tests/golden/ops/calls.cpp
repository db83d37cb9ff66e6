#include "recorded_case.h"

namespace tidemark {

const std::vector<NamedCall>& named_calls() {
  static const std::vector<NamedCall> calls = {
      {"scaled_dot_product_attention",
       [](Inputs& in, const Arguments& arguments, Run&) {
         const bool grouped = in.tensors[0].size(1) != in.tensors[1].size(1);
         return scaled_dot_product_attention(
             in[0], in[1], in[2], in[3],
             {.causal = arguments.flag("causal"), .enable_gqa = grouped, .dropout = arguments.real("dropout")});
       }},
  };
  return calls;
}

}  // namespace tidemark
