// Handles that NVIDIA's libraries hand out (streams, events, contexts, cuBLAS, cuDNN, descriptors): nothing is behind
// them, but each creation gives another one.  PyTorch keeps one cuBLAS workspace per handle and stream, so a shared
// dummy would hide one.
#pragma once

namespace tidemark {

/// Never null, never the same twice, never dereferenced, never an address of the virtual device.
void* new_handle();

/// Writes a new handle where a `cuSomethingCreate(&handle)` wants it.
template <class T>
void put_handle(T** out) {
  if (out) *out = static_cast<T*>(new_handle());
}

/// The stream that a library's handle was told to work on (cublasSetStream, cudnnSetStream); null until then.
void set_stream_of(const void* handle, void* stream);
void* stream_of(const void* handle);

}  // namespace tidemark
