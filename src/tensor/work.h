// What a program computes, counted for an estimate of its time.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <string_view>

#include "tensor/tensor.h"

namespace tidemark {

/// A product of matrices, (m, k) by (k, n); of a batch of them m has the rows of all.
struct ProductShape {
  bool half = true;  // two bytes an element
  double m = 0, n = 0, k = 0;

  double flops() const { return 2 * m * n * k; }  // a multiplication and an addition being two
  auto operator<=>(const ProductShape&) const = default;
};

/// Attention that is one kernel.
struct AttentionShape {
  bool backward = false;
  double head_width = 0, tokens = 0;  // of the keys

  auto operator<=>(const AttentionShape&) const = default;
};

/// What a second forward does once more.
struct Again {
  double flops = 0, written_bytes = 0;  // of products and attention; by all else

  Again& operator+=(const Again& more) {
    flops += more.flops;
    written_bytes += more.written_bytes;
    return *this;
  }
};

/// Of a checkpointed layer, all passes together.
struct LayerAgain {
  struct Operator {
    Again again;
    double result_bytes = 0;  // to keep, in its place
  };
  Again all;
  std::map<std::string_view, Operator> operators;  // those that can be kept
};

struct Work {
  std::map<ProductShape, double> products;           // how many of each
  std::map<AttentionShape, double> attention_flops;  // of all of each
  // What other kernels write, workspaces apart.
  double forward_bytes = 0, backward_bytes = 0;
  double flops = 0, forward_flops = 0;       // of products and attention; in forward passes, those that run again too
  std::map<std::int64_t, LayerAgain> again;  // by layer
  std::int64_t operations = 0, forward_operations = 0;
  std::int64_t parameter_bytes = 0, trained_bytes = 0;

  /// What a product or attention writes is a part of its own time.
  void add_product(Dtype dtype, double m, double n, double k, bool is_backward) {
    if (m <= 0 || n <= 0 || k <= 0) return;
    ++products[{size_of(dtype) == 2, m, n, k}];
    add_flops(2 * m * n * k, is_backward);
    written(is_backward) -= m * n * static_cast<double>(size_of(dtype));
  }

  void add_flops(double count, bool is_backward) {
    flops += count;
    if (!is_backward) forward_flops += count;
  }

  /// All so far.
  Again so_far() const { return {flops, forward_bytes + backward_bytes}; }

  double& written(bool is_backward) { return is_backward ? backward_bytes : forward_bytes; }

  /// Two products over all pairs of a query and a key, in the backward pass five (arXiv 2307.08691, 3.1), of which
  /// causal attention skips half.  q (B, H, S, D), k and v (B, K, T, D).
  void add_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool is_causal, bool is_backward) {
    const double pairs = static_cast<double>(q.size(0) * q.size(1)) * static_cast<double>(q.size(2) * k.size(2)) *
                         (is_causal ? 0.5 : 1.0);
    const auto width = static_cast<double>(q.size(3)), value_width = static_cast<double>(v.size(3));
    const double count = 2 * pairs * (is_backward ? 3 * width + 2 * value_width : width + value_width);
    attention_flops[{is_backward, width, static_cast<double>(k.size(2))}] += count;
    add_flops(count, is_backward);
    const double operands = is_backward ? static_cast<double>(q.elements() + k.elements() + v.elements())
                                        : static_cast<double>(q.elements());
    written(is_backward) -= operands * static_cast<double>(size_of(q.dtype()));
  }
};

/// What was done since `before` was all.
inline Again done_since(const Work& work, const Again& before) {
  const Again now = work.so_far();
  return {now.flops - before.flops, now.written_bytes - before.written_bytes};
}

}  // namespace tidemark
