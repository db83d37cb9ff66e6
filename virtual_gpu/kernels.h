// What the runtime and the driver interface both say of kernels.
#pragma once
#include "device_attributes.h"

namespace tidemark {

/// Blocks of that many threads that one multiprocessor holds, by threads alone (registers and shared memory are not known).
int resident_blocks(int threads_per_block);

/// What cudaGetLastError says next, on this thread: a `<<<…>>>` launch has no other way to fail.
void set_last_error(int status);

}  // namespace tidemark
