#include "ops/matmul_8bit.h"

#include "base/error.h"
#include "ops/in_place.h"
#include "ops/pointwise.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

constexpr Dtype kByte = Dtype::uint8;  // torch.int8

/// Which columns hold an outlier: their number is what the host waits for, and it is none.
Tensor find_outliers(const Tensor& x) {
  Tensor outliers = compare("aten::ge", abs(x));
  const Tensor any = plain_sum(outliers, every_dimension(outliers), false, Dtype::boolean);
  x.run().stream_calls.host_waits();
  return outliers;
}

/// int8_vectorwise_quant; what it makes on the way dies with its frame.
Rows8bit quantize_rows(const Tensor& x, bool threshold) {
  Run& run = x.run();
  const std::int64_t rows = x.elements() / x.size(-1);
  Rows8bit packed;
  packed.largest = empty(run, Dims{rows}, Dtype::f32);
  packed.values = empty(run, x.sizes(), kByte);
  if (!threshold) return packed;
  const Tensor outliers = find_outliers(x);
  if (rows > 1 && !run.torch().fills_at_indices)
    const Tensor zero = empty(run, Dims{}, kByte);  // out_row[:, outlier_cols] = 0
  return packed;
}

/// int8_linear_matmul: (..., K) with (N, K), in whole numbers of 4 bytes; cuBLASLt takes rows that four divides.
Tensor whole_product(const Tensor& x, const Tensor& weight) {
  const std::int64_t n = weight.size(0), k = weight.size(1);
  Dims sizes = x.sizes();
  sizes[-1] = n;
  Tensor y = empty(x.run(), sizes, Dtype::int32);
  if (k % 4 != 0) {
    Tensor wide_x = to(x, Dtype::f32), wide_weight = to(weight, Dtype::f32);
    const Tensor product = to(matmul(std::move(wide_x), transpose(std::move(wide_weight), 0, 1)), Dtype::int32);
    return y;
  }
  if (Work* work = x.run().counted())
    work->add_product(Dtype::f16, static_cast<double>(x.elements() / k), static_cast<double>(n), static_cast<double>(k),
                      x.run().computes_backward());
  return y;
}

/// int8_scaled_mm: the kernel that scales gives fp16, and takes a bias of that type; another one is added in place.
Tensor scaled_product(const Tensor& x, const Tensor& weight, const Tensor& bias, Dtype dtype) {
  const Tensor whole = whole_product(x, weight);
  Tensor y = empty_like(whole, Dtype::f16);
  if (bias && bias.dtype() != Dtype::f16) y = add_(std::move(y), bias);
  return to(std::move(y), dtype);
}

/// MatMul8bitLt.forward, from where there are rows.
Tensor product_of(const Tensor& x, const Rows8bit& weight, const Tensor& bias, bool threshold) {
  const Rows8bit packed = quantize_rows(to(x, Dtype::f16), threshold);
  return scaled_product(packed.values, weight.values, bias, x.dtype());
}

/// MatMul8bitLt.backward; facts: the input's sizes and type, and how many rows the weight has.
Tensors matmul_8bit_backward(Backward& call) {
  const Dims& sizes = call.facts.sizes;
  const std::int64_t n = call.facts.a, k = sizes[-1];
  Tensor gradient = call.gradient();
  const std::int64_t rows = gradient.elements() / n;
  if (gradient.dims() == 3) gradient = contiguous(reshape(std::move(gradient), Dims{rows, n}));
  Tensor weight = empty(call.run, Dims{n, k}, call.facts.dtype);
  {
    const Tensor scales = empty(call.run, Dims{n, 1}, Dtype::f32);
  }
  Tensor result = view(matmul(gradient, weight), sizes);
  gradient.reset();
  weight.reset();
  if (call.run.torch().python_functions_let_go_of_gradients) call.gradients[0].reset();
  return {std::move(result)};
}

}  // namespace

Rows8bit quantize_8bit(Tensor weight) {
  const Op op(weight, "bitsandbytes::int8_vectorwise_quant");
  const NoGrad no_grad(weight.run());
  return quantize_rows(weight, false);
}

Tensor matmul_8bit(Tensor x, const Rows8bit& weight, Tensor bias, bool threshold) {
  if (x.dims() > 3)
    throw Error(Errc::unsupported, "a product of 8 bits takes no more than three dimensions",
                "quantization.load_in_8bit");
  const Op op(x, "MatMul8bitLt");
  const Facts facts{.sizes = x.sizes(), .a = weight.values.size(0), .dtype = x.dtype()};
  Tensor y, rows;
  {
    const NoGrad no_grad(x.run());
    rows = x.dims() == 3 ? reshape(x, Dims{x.elements() / x.size(-1), x.size(-1)}) : x;
    y = product_of(rows, weight, bias, threshold);
    Dims sizes = x.sizes();
    sizes[-1] = facts.a;
    if (x.dims() == 3) y = view(std::move(y), sizes);
  }
  return record(
      std::move(y), {std::move(x)},
      {.name = "MatMul8bitLtBackward", .facts = facts, .backward = matmul_8bit_backward, .attribute = std::move(rows)});
}

}  // namespace tidemark
