// torch.distributed.barrier, as ProcessGroupNCCL does it.  torch/csrc/distributed/c10d (2.11.0)
#pragma once
#include "tensor/run.h"

namespace tidemark {

/// ProcessGroup::barrier makes one tensor, ProcessGroupNCCL::barrier reduces another.  The first is `kept` until the next
/// barrier, or the second for all that follow.
void barrier(Run& run, Tensor& kept);

}  // namespace tidemark
