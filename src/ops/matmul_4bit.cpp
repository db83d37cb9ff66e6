#include "ops/matmul_4bit.h"

#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

constexpr std::int64_t kBlock = 64, kNestedBlock = 256;

std::int64_t blocks_of(std::int64_t elements, std::int64_t block) { return (elements + block - 1) / block; }

/// get_4bit_type: 16 values, divided by the largest.
Tensor values_of_4bit(Run& run) {
  Tensor values = to_device(run, Dims{16}, Dtype::f32);
  Tensor magnitudes = empty_like(values);
  const Tensor largest = max(std::move(magnitudes));
  return values;
}

/// quantize_blockwise of the blocks' scales.
void nest(Tensor absmax, QuantState& state, Tensor& dynamic_map) {
  Run& run = absmax.run();
  state.offset = mean(absmax);
  Tensor centered = sub(absmax, state.offset);
  if (!dynamic_map) dynamic_map = to_device(run, Dims{256}, Dtype::f32);
  state.nested_absmax = empty(run, Dims{blocks_of(centered.elements(), kNestedBlock)}, Dtype::f32);
  state.absmax = empty_like(centered, Dtype::uint8);
  state.nested_code = clone(dynamic_map);
  centered.reset();
}

Tensor own_gemm(const Tensor& x, const Dims& sizes, std::int64_t k) {
  if (Work* work = x.run().counted())
    work->add_product(x.dtype(), static_cast<double>(x.elements() / k), static_cast<double>(sizes[-1]),
                      static_cast<double>(k), x.run().computes_backward());
  const Tensor in_order = contiguous(x);
  return empty(x.run(), sizes, x.dtype());
}

/// bitsandbytes::gemm_4bit; what it makes on the way dies in the order of the frame: arguments, then locals.
Tensor gemm_4bit(const Tensor& x, const QuantState& state, const Tensor& bias) {
  Run& run = x.run();
  const NoGrad no_grad(run);
  const std::int64_t n = state.shape[0], k = state.shape[1], m = x.elements() / k;
  if (has_own_gemm_4bit(run.card(), x.dtype(), m, n, k)) {
    Dims sizes = x.sizes();
    sizes[-1] = n;
    return own_gemm(x, sizes, k);
  }
  Tensor unpacked_absmax, absmax;
  if (state.is_nested()) {
    unpacked_absmax = empty_like(state.absmax, Dtype::f32);
    absmax = add(unpacked_absmax, state.offset);
  }
  const Tensor weight = empty(run, state.shape, x.dtype());
  Tensor y = linear(x, weight, bias);
  absmax.reset();
  unpacked_absmax.reset();
  return y;
}

/// MatMul4Bit.backward; facts: the weight's sizes and type, and how many blocks have scales that are quantized.
Tensors matmul_4bit_backward(Backward& call) {
  Tensor unpacked_absmax;
  if (call.facts.a > 0) unpacked_absmax = empty(call.run, Dims{call.facts.a}, Dtype::f32);
  Tensor weight = empty(call.run, call.facts.sizes, call.facts.dtype);
  unpacked_absmax.reset();
  weight = to(std::move(weight), call.gradient().dtype());
  Tensor gradient = matmul(call.gradient(), std::move(weight));
  if (call.run.torch().python_functions_let_go_of_gradients) call.gradients[0].reset();
  return {std::move(gradient)};
}

}  // namespace

Packed4bit quantize_4bit(Tensor weight, bool compress_statistics, Dtype storage, Tensor& dynamic_map) {
  Run& run = weight.run();
  const Op op(weight, "bitsandbytes::quantize_4bit");
  const NoGrad no_grad(run);
  const std::int64_t elements = weight.elements();
  Packed4bit packed;
  packed.state.shape = weight.sizes();
  packed.state.dtype = weight.dtype();
  Tensor absmax = empty(run, Dims{blocks_of(elements, kBlock)}, Dtype::f32);
  packed.weight = empty(run, Dims{(elements + 1) / (size_of(storage) * 2), 1}, storage);
  packed.state.code = values_of_4bit(run);
  if (compress_statistics)
    nest(std::move(absmax), packed.state, dynamic_map);
  else
    packed.state.absmax = std::move(absmax);
  return packed;
}

Tensor dequantize_4bit(Run& run, const QuantState& state) {
  const Op op(run, "bitsandbytes::dequantize_4bit");
  Tensor absmax;  // with the offset added in place
  if (state.is_nested()) absmax = empty_like(state.absmax, Dtype::f32);
  return empty(run, state.shape, state.dtype);
}

Tensor matmul_4bit(Tensor x, const QuantState& state, Tensor bias) {
  const Op op(x, "bitsandbytes::gemm_4bit");
  Tensor y = gemm_4bit(x, state, bias);
  const Facts facts{.sizes = state.shape, .a = state.is_nested() ? state.absmax.elements() : 0, .dtype = state.dtype};
  return record(std::move(y), {std::move(x)},
                {.name = "MatMul4BitBackward", .facts = facts, .backward = matmul_4bit_backward});
}

}  // namespace tidemark
