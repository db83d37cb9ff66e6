// Handles that NVIDIA's libraries hand out (streams, events, contexts, cuBLAS, cuDNN, descriptors): nothing is behind them,
// but each creation gives another one.  PyTorch keeps one cuBLAS workspace per handle and stream, so a shared dummy would hide one.
#pragma once

namespace tidemark {

/// Never null, never the same twice, never dereferenced, never an address of the virtual device.
void* new_handle();

/// Writes a new handle where a `cuSomethingCreate(&handle)` wants it.
template <class T>
void put_handle(T** out) {
  if (out) *out = static_cast<T*>(new_handle());
}

}  // namespace tidemark
