// BLOOM's own gelu: a torch.autograd.Function that keeps its input, made of single operations both ways.
#pragma once
#include "nn/module.h"

namespace tidemark {

/// transformers: models/bloom/modeling_bloom.py, BloomGelu.forward (5.17.0)
Tensor bloom_gelu(Module& m, Tensor input);

}  // namespace tidemark
