// What a program computes, counted for an estimate of its time.
#pragma once
#include <cstdint>

#include "tensor/tensor.h"

namespace tidemark {

struct Work {
  // Floating-point operations, a multiplication and an addition being two: of products of matrices and of convolutions
  // by the width of their type, and of attention that is one kernel.
  double half_flops = 0, single_flops = 0, attention_flops = 0, attention_backward_flops = 0;
  double allocated_bytes = 0;  // by all operations, workspaces apart: what they write
  std::int64_t operations = 0;
  std::int64_t parameter_bytes = 0, trained_bytes = 0;

  /// Of an operand's type, for each of the result's elements a sum over `terms`.
  void add_product(Dtype dtype, double elements, double terms) {
    (size_of(dtype) == 2 ? half_flops : single_flops) += 2 * elements * terms;
  }

  /// Two products over all pairs of a query and a key, in the backward pass five (arXiv 2307.08691, 3.1), of which
  /// causal attention skips half.  q (B, H, S, D), k and v (B, K, T, D).
  void add_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool is_causal, bool is_backward) {
    const double pairs = static_cast<double>(q.size(0) * q.size(1)) * static_cast<double>(q.size(2) * k.size(2)) *
                         (is_causal ? 0.5 : 1.0);
    const auto width = static_cast<double>(q.size(3)), value_width = static_cast<double>(v.size(3));
    if (is_backward)
      attention_backward_flops += 2 * pairs * (3 * width + 2 * value_width);
    else
      attention_flops += 2 * pairs * (width + value_width);
  }
};

}  // namespace tidemark
