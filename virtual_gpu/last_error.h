#pragma once

namespace tidemark {

/// What cudaGetLastError says next, on this thread: a `<<<…>>>` launch has no other way to fail.
void set_last_error(int status);

}  // namespace tidemark
