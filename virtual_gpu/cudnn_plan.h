// Execution plans whose kernels cuDNN would compile at run time: their workspace is known without compiling.
#pragma once
#include "cudnn_real.h"

namespace tidemark::cudnn {

/// Plan `plan` is being made of engine configuration `config`.
void note_plan(Descriptor plan, Descriptor config);

/// True if `plan` is one of an engine that compiles its kernels at run time, which is then not done: building it takes
/// NVRTC, a driver and seconds, and the configuration already has the workspace that a built plan reports (equal for
/// 4,287 of 4,287 plans of convolutions that could be built: cuDNN 9.8 on an RTX 3060, 9.19 on an H100).
bool leave_unbuilt(const Real& r, Descriptor plan);

/// The workspace of a plan that was left so; false if it was built, or is no plan.
bool unbuilt_workspace(Descriptor plan, std::int64_t* bytes);

void forget_plan(Descriptor plan);

}  // namespace tidemark::cudnn
