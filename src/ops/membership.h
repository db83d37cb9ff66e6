// Questions about elements: whether one, or all, are so.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// x.any() or x.all(), by its name in ATen.
Tensor any_or_all(const char* name, Tensor x);
/// x.any(dim=-1)
Tensor any_in_rows(Tensor x);
/// torch.isin(elements, test_elements) of few test elements.
Tensor isin(Tensor elements, Tensor test_elements);

}  // namespace tidemark
