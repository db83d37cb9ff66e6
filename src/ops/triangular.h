// Systems of linear equations.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// X of A X = B; A (…, N, N) is a triangle, B (…, N, K).
Tensor solve_triangular(Tensor a, Tensor b);

}  // namespace tidemark
