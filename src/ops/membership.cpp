#include "ops/membership.h"

#include "ops/ops.h"
#include "ops/selection.h"

namespace tidemark {
namespace {

/// One at each dimension from `first` on.
Dims marked_from(const Tensor& x, int first) {
  Dims reduced = x.sizes();
  for (int i = 0; i < reduced.count(); ++i) reduced[i] = i >= first ? 1 : 0;
  return reduced;
}

}  // namespace

Tensor any_or_all(const char* name, Tensor x) {
  const Op op(x, name);
  return plain_sum(x, marked_from(x, 0), false, Dtype::boolean);
}

Tensor any_in_rows(Tensor x) {
  const Op op(x, "aten::any");
  return plain_sum(x, marked_from(x, x.dims() - 1), false, Dtype::boolean);
}

/// torch: aten/src/ATen/native/TensorCompare.cpp, isin_default_kernel_gpu (2.15.0)
Tensor isin(Tensor elements, Tensor test_elements) {
  const Op op(elements, "aten::isin");
  Dims pairs = elements.sizes();
  pairs.push_back(test_elements.elements());
  Tensor result = empty(elements.run(), elements.sizes(), Dtype::boolean);
  const Tensor equal = empty(elements.run(), pairs, Dtype::boolean);
  const Tensor any = empty(elements.run(), elements.sizes(), Dtype::boolean);
  return result;
}

}  // namespace tidemark
