// repr(tensor) of a tensor on the device: what torch/_tensor_str.py (2.11.0) computes there to write some numbers.
#pragma once
#include "ops/ops.h"

namespace tidemark {

/// All of it is gone when it returns.  Float data is taken to be finite and not zero.
void print_tensor(const Tensor& tensor);

}  // namespace tidemark
