#include "train/optimizer.h"

namespace tidemark {

void zero_grad(Optimizer& optimizer, bool set_to_none) {
  if (!set_to_none) return;
  for (Tensor& parameter : optimizer.parameters) parameter.grad().reset();
}

}  // namespace tidemark
