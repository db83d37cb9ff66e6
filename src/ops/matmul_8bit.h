// Weights of eight bits, as bitsandbytes packs and multiplies them (LLM.int8(), arXiv 2208.07339).
// bitsandbytes: autograd/_functions.py, backends/{cuda,default}/ops.py (0.50.2)
#pragma once
#include "ops/ops.h"

namespace tidemark {

/// Numbers of a byte each, and of every row the largest that it had.
struct Rows8bit {
  Tensor values, largest;
};

/// int8_vectorwise_quant without a threshold, of fp16.
Rows8bit quantize_8bit(Tensor weight);

/// MatMul8bitLt: x (..., K) with a weight (N, K) -> (..., N); only x gets a gradient.  `threshold`: activations are
/// compared with it, and none is found to reach it.
Tensor matmul_8bit(Tensor x, const Rows8bit& weight, Tensor bias, bool threshold);

}  // namespace tidemark
