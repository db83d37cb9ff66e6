// More operations with one result per element: those that families of models call here and there.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

Tensor abs(Tensor x);
Tensor sqrt(Tensor x);
Tensor log(Tensor x);
Tensor expm1(Tensor x);
Tensor erf(Tensor x);
Tensor erfinv(Tensor x);
/// 1 / x
Tensor reciprocal(Tensor x);
/// floor, ceil, round, sign: the gradient is 0.  `name` is the operation's, `backward` its node's.
Tensor rounded(const char* name, const char* backward, Tensor x);
Tensor softplus(Tensor x);
/// hardtanh, of which relu6 is one; leaky_relu, elu, hardswish, …: `x` is kept, and each way has one result.
Tensor bent(const char* name, const char* backward, Tensor x);
/// A Python number minus x.
Tensor rsub(Tensor x);
/// x minus a Python number.
Tensor sub_number(Tensor x);
/// Between Python numbers; only from below or above: `both` is false.
Tensor clamp_between(Tensor x, bool both);
/// torch.clamp_min and clamp_max.
Tensor clamp_from(Tensor x);
Tensor maximum(Tensor a, Tensor b);

}  // namespace tidemark
