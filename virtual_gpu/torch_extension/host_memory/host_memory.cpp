// Host memory that PyTorch's tensors take: large ones in pages that are there only where they are written
// (virtual_gpu/host_pages.h), all of it counted, for what offloading moves there.  Counted as it was asked for; neither
// files that are mapped (safetensors) nor memory that others own (NumPy, shared memory) pass through here; pinned
// memory is cudaHostAlloc's.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include <pthread.h>

#include "../stand_in.h"

namespace tidemark {
namespace {

/// PyTorch's own allocator but for large tensors, and a count.
class Counting final : public c10::Allocator {
 public:
  explicit Counting(c10::Allocator* real) : real_(real), free_(real->raw_deleter()) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    if (void* pages = bytes >= kLargeHostBytes ? tidemark_take_host_pages(bytes) : nullptr) {
      count(pages, bytes);
      return {pages, pages, &release, c10::Device(c10::kCPU)};
    }
    c10::DataPtr data = real_->allocate(bytes);
    if (data.get() != data.get_context() || !data.compare_exchange_deleter(free_, &release))
      return data;  // not its plain kind, which alone can be told by address
    count(data.get(), bytes);
    return data;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { real_->copy_data(to, from, bytes); }

  std::int64_t peak_bytes() {
    const std::lock_guard lock(mutex_);
    return peak_;
  }

  /// Around a fork: a thread that is not there in the child must not hold the lock there.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  void count(void* start, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    size_of_[start] = static_cast<std::int64_t>(bytes);
    now_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, now_);
  }
  static void release(void* data);

  c10::Allocator* const real_;
  const c10::DeleterFnPtr free_;
  std::mutex mutex_;
  std::unordered_map<void*, std::int64_t> size_of_;
  std::int64_t now_ = 0, peak_ = 0;
};

Counting* counting = nullptr;  // made once, never destroyed: tensors are freed after static destructors have run

void Counting::release(void* data) {
  {
    const std::lock_guard lock(counting->mutex_);
    const auto found = counting->size_of_.find(data);
    if (found != counting->size_of_.end()) {
      counting->now_ -= found->second;
      counting->size_of_.erase(found);
    }
  }
  if (!tidemark_give_back_host_pages(data)) counting->free_(data);
}

}  // namespace
}  // namespace tidemark

extern "C" {  // for python/tidemark (ctypes)

/// From here on, what PyTorch's CPU allocator hands out is counted.
void tidemark_start_counting_host_memory() {
  c10::Allocator* real = c10::GetCPUAllocator();
  if (tidemark::counting || !real->raw_deleter()) return;
  tidemark::counting = new tidemark::Counting(real);
  pthread_atfork([] { tidemark::counting->before_fork(); }, [] { tidemark::counting->after_fork(); },
                 [] { tidemark::counting->after_fork(); });
  c10::SetCPUAllocator(tidemark::counting, /*priority=*/1);
}

/// The most that was handed out at one time.
std::int64_t tidemark_host_memory_peak_bytes() { return tidemark::counting ? tidemark::counting->peak_bytes() : 0; }

}  // extern "C"
