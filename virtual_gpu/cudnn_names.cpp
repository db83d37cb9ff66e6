// Driver and NVRTC functions that the real libcudnn looks up by name as it asks its run-time compiled engines for
// support, and that nothing else uses: it prints a line for each one that is missing.  It never calls them here, since
// nothing is executed. Weak: where another file defines one, that one is meant.
#include "cuda_abi.h"

using tidemark::abi::kNotSupported;
using tidemark::abi::Status;

#pragma GCC visibility push(default)
extern "C" {

[[gnu::weak]] Status __nvrtcCPEx() { return kNotSupported; }
[[gnu::weak]] Status cuCtxGetLimit() { return kNotSupported; }
[[gnu::weak]] Status cuLibraryLoadFromFile() { return kNotSupported; }
[[gnu::weak]] Status cuLinkAddData() { return kNotSupported; }
[[gnu::weak]] Status cuLinkCreate() { return kNotSupported; }
[[gnu::weak]] Status cuOccupancyMaxPotentialClusterSize() { return kNotSupported; }
[[gnu::weak]] Status cuStreamGetCtx() { return kNotSupported; }

}  // extern "C"
#pragma GCC visibility pop
