// Writing into a tensor, or a part of one, where gradients flow.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// x.copy_(source): of a view, what it shows of its base has the source's history now, and the base has both.
Tensor copy_(Tensor x, Tensor source);
/// x.zero_(), x.fill_(number)
Tensor fill_(Tensor x);

/// x.mul_(number), x.div_(number)
Tensor scale_(Tensor x);

}  // namespace tidemark
