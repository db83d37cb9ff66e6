// libcudart, CUDA graphs: a capture changes what the caching allocator does (private pools), so its state is kept; the graph is empty.
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda_abi.h"
#include "handles.h"

namespace tidemark {
namespace {

/// Which streams are being captured, and under which id.
class Captures {
 public:
  void begin(void* stream) { const std::lock_guard lock(mutex_); ids_[stream] = next_id_++; }
  void end(void* stream) { const std::lock_guard lock(mutex_); ids_.erase(stream); }
  std::uint64_t id(void* stream) {
    const std::lock_guard lock(mutex_);
    const auto it = ids_.find(stream);
    return it == ids_.end() ? 0 : it->second;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::uint64_t> ids_;
  std::uint64_t next_id_ = 1;
};

Captures& captures() {
  static auto* all = new Captures;
  return *all;
}

}  // namespace
}  // namespace tidemark

using namespace tidemark;
using abi::Status;

#pragma GCC visibility push(default)
extern "C" {

Status cudaStreamBeginCapture(void* stream, int) { captures().begin(stream); return 0; }
Status cudaStreamEndCapture(void* stream, void** graph) { captures().end(stream); put_handle(graph); return 0; }
Status cudaStreamIsCapturing(void* stream, int* status) { *status = captures().id(stream) ? 1 : 0; return 0; }
Status cudaStreamGetCaptureInfo_v2(void* stream, int* status, std::uint64_t* id, void** graph, const void***, std::size_t* count) {
  const std::uint64_t capture = captures().id(stream);
  *status = capture ? 1 : 0;
  if (id) *id = capture;
  if (graph) put_handle(graph);
  if (count) *count = 0;
  return 0;
}
/// CUDA 13's form has one more output (edge data) before the count.
Status cudaStreamGetCaptureInfo(void* stream, int* status, std::uint64_t* id, void** graph, const void***, const void**, std::size_t* count) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nullptr, count);
}
Status cudaThreadExchangeStreamCaptureMode(int*) { return 0; }
Status cudaGraphInstantiate(void** exec, void*, ...) { put_handle(exec); return 0; }
Status cudaGraphInstantiateWithFlags(void** exec, void*, unsigned long long) { put_handle(exec); return 0; }
Status cudaGraphGetNodes(void*, void**, std::size_t* count) { if (count) *count = 0; return 0; }

}  // extern "C"
#pragma GCC visibility pop
