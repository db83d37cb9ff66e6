// Driver and NVRTC functions that the real libcudnn looks up by name as it asks its run-time compiled engines for support, and that
// nothing else uses: it prints a line for each one that is missing.  It never calls them here, since nothing is executed.
// Weak: where another file defines one, that one is meant.
#include "cuda_abi.h"

using tidemark::abi::kNotSupported;
using tidemark::abi::Status;

#pragma GCC visibility push(default)
extern "C" {

#define TIDEMARK_NEVER_CALLED(name) \
  __attribute__((weak)) Status name() { return kNotSupported; }
TIDEMARK_NEVER_CALLED(__nvrtcCPEx)
TIDEMARK_NEVER_CALLED(cuCtxGetLimit)
TIDEMARK_NEVER_CALLED(cuLibraryLoadFromFile)
TIDEMARK_NEVER_CALLED(cuLinkAddData)
TIDEMARK_NEVER_CALLED(cuLinkCreate)
TIDEMARK_NEVER_CALLED(cuOccupancyMaxPotentialClusterSize)
TIDEMARK_NEVER_CALLED(cuStreamGetCtx)
#undef TIDEMARK_NEVER_CALLED

}  // extern "C"
#pragma GCC visibility pop
