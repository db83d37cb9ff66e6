// Weights of four bits, as bitsandbytes packs and multiplies them.
// bitsandbytes: functional.py, autograd/_functions.py, backends/cuda/ops.py (0.50.2)
#pragma once
#include "ops/ops.h"

namespace tidemark {

/// QuantState: what it takes to read a packed weight.
struct QuantState {
  Dims shape;                                 // of the weight: (N, K)
  Dtype dtype = Dtype::f32;                   // that it was packed from
  Tensor absmax, code;                        // of each block, and what the 16 values stand for
  Tensor offset, nested_absmax, nested_code;  // where the blocks' own scales are quantized: of those

  bool is_nested() const { return static_cast<bool>(offset); }
};

struct Packed4bit {
  Tensor weight;
  QuantState state;
};

/// quantize_4bit, in blocks of 64.  `dynamic_map`: the library's table of 8-bit values, made when it is first needed
/// and kept until the process ends.
Packed4bit quantize_4bit(Tensor weight, bool compress_statistics, Dtype storage, Tensor& dynamic_map);

/// dequantize_4bit: a packed weight in the type that it was packed from.
Tensor dequantize_4bit(Run& run, const QuantState& state);

/// matmul_4bit: x (…, K) -> (…, N); only x gets a gradient.
Tensor matmul_4bit(Tensor x, const QuantState& state, Tensor bias);

/// Whether gemm_4bit runs its own kernel, of M rows with a weight (N, K); else the weight is unpacked for torch's.
bool has_own_gemm_4bit(const Card& card, Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace tidemark
