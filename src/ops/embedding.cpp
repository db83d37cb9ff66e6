// torch: aten/src/ATen/native/Embedding.cpp, cuda/Embedding.cu
#include "ops/ops.h"

namespace tidemark {

/// Keeps the indices.
Tensor embedding(Tensor weight, Tensor indices) {
  const Op op(weight, "aten::embedding");
  Dims sizes = indices.sizes();
  sizes.push_back(weight.size(1));
  Tensor y = empty(weight.run(), sizes, weight.dtype());
  const Facts facts{.sizes = weight.sizes()};
  Tensors saved{std::move(indices)};
  return record(std::move(y), {std::move(weight)},
                {.name = "EmbeddingBackward0", .saved = std::move(saved), .facts = facts,
                 .backward = [](Backward& call) -> Tensors {
                   return {zeros(call.run, call.facts.sizes, call.gradient().dtype())};
                 }});
}

}  // namespace tidemark
