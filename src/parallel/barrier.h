// torch.distributed.barrier, as ProcessGroupNCCL does it.  torch/csrc/distributed/c10d (2.11.0)
#pragma once
#include "tensor/run.h"

namespace tidemark {

/// ProcessGroup::barrier makes one tensor, which is `kept` until the next barrier; ProcessGroupNCCL::barrier reduces
/// another.
void barrier(Run& run, Tensor& kept);

}  // namespace tidemark
