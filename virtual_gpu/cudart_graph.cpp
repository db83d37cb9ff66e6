// libcudart, CUDA graphs: a capture changes what the caching allocator does (private pools), so its state is kept; of
// the graph itself nothing is kept but how long its work takes.
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda_abi.h"
#include "device_clock.h"
#include "handles.h"

namespace tidemark {
namespace {

/// Which streams are being captured, and under which id; and how long captured work takes, by graph and by executable
/// graph.
class Captures {
 public:
  void begin(void* stream) {
    const std::lock_guard lock(mutex_);
    running_[stream] = {next_id_++, 0};
    count_ = static_cast<int>(running_.size());
  }
  void end(void* stream, void* graph) {
    const std::lock_guard lock(mutex_);
    durations_[graph] = running_[stream].duration;
    running_.erase(stream);
    count_ = static_cast<int>(running_.size());
  }
  std::uint64_t id(void* stream) {
    const std::lock_guard lock(mutex_);
    const auto it = running_.find(stream);
    return it == running_.end() ? 0 : it->second.id;
  }
  bool add(const void* stream, Nanoseconds duration) {
    if (count_ == 0) return false;
    const std::lock_guard lock(mutex_);
    const auto it = running_.find(stream);
    if (it == running_.end()) return false;
    it->second.duration += duration;
    return true;
  }
  void instantiate(void* graph, void* exec) {
    const std::lock_guard lock(mutex_);
    durations_[exec] = durations_[graph];
  }
  Nanoseconds duration(void* exec) {
    const std::lock_guard lock(mutex_);
    return durations_[exec];
  }

 private:
  struct Running {
    std::uint64_t id;
    Nanoseconds duration;
  };
  std::mutex mutex_;
  std::atomic<int> count_{0};
  std::map<const void*, Running> running_;
  std::map<const void*, Nanoseconds> durations_;
  std::uint64_t next_id_ = 1;
};

Captures& captures() {
  static auto* all = new Captures;
  return *all;
}

}  // namespace

bool capture_work(const void* stream, Nanoseconds duration) { return captures().add(stream, duration); }

}  // namespace tidemark

using namespace tidemark;
using abi::Status;

#pragma GCC visibility push(default)
extern "C" {

Status cudaStreamBeginCapture(void* stream, int) {
  captures().begin(stream);
  return 0;
}
Status cudaStreamEndCapture(void* stream, void** graph) {
  put_handle(graph);
  captures().end(stream, *graph);
  return 0;
}
Status cudaStreamIsCapturing(void* stream, int* status) {
  *status = captures().id(stream) ? 1 : 0;
  return 0;
}
Status cudaStreamGetCaptureInfo_v2(void* stream, int* status, std::uint64_t* id, void** graph, const void***,
                                   std::size_t* count) {
  const std::uint64_t capture = captures().id(stream);
  *status = capture ? 1 : 0;
  if (id) *id = capture;
  if (graph) put_handle(graph);
  if (count) *count = 0;
  return 0;
}
/// CUDA 13's form has one more output (edge data) before the count.
Status cudaStreamGetCaptureInfo(void* stream, int* status, std::uint64_t* id, void** graph, const void***, const void**,
                                std::size_t* count) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nullptr, count);
}
Status cudaThreadExchangeStreamCaptureMode(int*) { return 0; }
Status cudaGraphInstantiate(void** exec, void* graph, ...) {
  put_handle(exec);
  captures().instantiate(graph, *exec);
  return 0;
}
Status cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  return cudaGraphInstantiate(exec, graph);
}
Status cudaGraphLaunch(void* exec, void* stream) {
  queue_work(stream, captures().duration(exec));
  return 0;
}
Status cudaGraphGetNodes(void*, void**, std::size_t* count) {
  if (count) *count = 0;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
