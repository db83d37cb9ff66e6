// torch.distributed.barrier, as ProcessGroupNCCL does it.  torch/csrc/distributed/c10d (2.11.0)
#pragma once
#include "tensor/run.h"

namespace tidemark {

/// ProcessGroup::barrier makes one tensor, ProcessGroupNCCL::barrier reduces another.  By release, the first is `kept`
/// until the next barrier, neither is, or the second is for all that follow.
void barrier(Run& run, Tensor& kept);

}  // namespace tidemark
