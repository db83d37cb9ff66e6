// torch.distributed.tensor.experimental.context_parallel (torch 2.11.0): several GPUs share the tokens of each sample.
#pragma once
#include "parallel/ring_attention.h"
#include "train/hooks.h"

namespace tidemark {

struct ContextParallelOptions {
  Ring ring;
  bool restore_buffers = false;  // no_restore_buffers is empty
};

/// `with context_parallel(mesh, buffers=…)` around a forward and a backward pass.  The buffers are a batch of text with
/// labels and positions, as transformers' Trainer prepares it (5.17.0: _prepare_context_parallel_inputs).  `run` must
/// outlive the hooks.
StepHooks context_parallel(Run& run, const ContextParallelOptions& options);

}  // namespace tidemark
