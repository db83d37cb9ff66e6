// x[i, :, j] with tensors as indices: places or masks, for any of the dimensions.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// An index for each of the first dimensions, an empty one for `:`; `found` is how many elements of a mask are true.
Tensor index(Tensor x, Tensors indices, std::int64_t found);
/// Of whole numbers: those under a mask of x's sizes, of which `found` are true.
Tensor masked_select(Tensor x, Tensor mask, std::int64_t found);
/// x[indices] = values
Tensor index_put_(Tensor x, Tensors indices, Tensor values, std::int64_t found);
/// x[indices] = number, of whole numbers as indices.  No gradient.
void index_put_number(const Tensor& x, const Tensors& indices);

}  // namespace tidemark
