#include "parallel/tensor_text.h"

#include "parallel/gradient_norm.h"

namespace tidemark {
namespace {

constexpr std::int64_t kThreshold = 1000, kEdgeItems = 3;  // _tensor_str.py, __PrinterOptions

Tensor made(const char* name, const Tensor& like, const Dims& sizes, Dtype dtype) {
  const Op op(like, name);
  return empty(like.run(), sizes, dtype);
}

/// get_summarized_data: the corners.
Tensor summarized(const Tensor& x) {
  const bool is_long = x.size(0) > 2 * kEdgeItems;
  if (x.dims() == 1) return is_long ? made("aten::cat", x, Dims{2 * kEdgeItems}, x.dtype()) : x;
  Layout row = x.layout();
  row.sizes.erase(0);
  row.strides.erase(0);
  const std::int64_t rows = is_long ? 2 * kEdgeItems : x.size(0);
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < rows; ++i) parts.push_back(summarized(view_of(x, row)));
  Dims sizes = parts.front().sizes();
  sizes.insert(0, rows);
  return made("aten::stack", x, sizes, x.dtype());
}

/// nonzero_finite_vals of _Formatter
Tensor nonzero_finite(const Tensor& view) {
  const Dims all = view.sizes();
  const Tensor mask = [&] {
    const Tensor finite = is_finite(view), nonzero = made("aten::ne", view, all, Dtype::boolean);
    return made("aten::__and__", view, all, Dtype::boolean);
  }();
  const Op op(view, "aten::masked_select");
  return index_mask(view, mask, view.elements());
}

/// _Formatter.__init__: the first number that is not whole ends the search for whole ones.
void format(const Tensor& data) {
  const Tensor view = view_of(data, {Dims{data.elements()}, Dims{1}});
  const Tensor values = nonzero_finite(view);
  const auto number = [&](const char* name, Dtype dtype) { return made(name, view, Dims{}, dtype); };
  const Tensor wide = [&] {
    const Tensor absolute = made("aten::abs", view, values.sizes(), values.dtype());
    return made("aten::to", view, values.sizes(), Dtype::f64);
  }();
  const Tensor least = number("aten::min", Dtype::f64), most = number("aten::max", Dtype::f64);
  {
    const Tensor whole = number("aten::ceil", values.dtype()), differs = number("aten::ne", Dtype::boolean);
  }
  {
    const Tensor ratio = number("aten::div", Dtype::f64), above = number("aten::gt", Dtype::boolean);
  }
  number("aten::gt", Dtype::boolean).reset();
  number("aten::lt", Dtype::boolean).reset();
}

}  // namespace

void print_tensor(const Tensor& tensor) {
  if (tensor.elements() == 0) return;
  format(tensor.elements() > kThreshold ? summarized(tensor) : tensor);
}

}  // namespace tidemark
