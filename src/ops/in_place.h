// Writing into a tensor, or a part of one, where gradients flow.
#pragma once
#include "tensor/node.h"

namespace tidemark {

/// x.copy_(source): of a view, what it shows of its base has the source's history now, and the base has both.
Tensor copy_(Tensor x, Tensor source);
/// x.add_(source): of a view, the base has the source's history too.
Tensor add_into(Tensor x, Tensor source);
/// x.zero_(), x.fill_(number)
Tensor fill_(Tensor x);

/// After a view was written to: `what` is the base's history, of inputs of which the base is the first, and the view
/// shows the base anew.
Tensor rebased(Tensor view, Tensors inputs, Record what);

/// x.masked_fill_(mask, number) of a view: the base's history keeps the mask.
Tensor masked_fill_part(Tensor view, Tensor mask);

/// x.mul_(number), x.div_(number)
Tensor scale_(Tensor x);

}  // namespace tidemark
