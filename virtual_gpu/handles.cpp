#include "handles.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace tidemark {
namespace {

struct Streams {
  std::mutex mutex;
  std::unordered_map<const void*, void*> of_handle;
};

Streams& streams() {
  static auto* all = new Streams;
  return *all;
}

}  // namespace

void* new_handle() {
  // 4 KiB upwards in steps of 64: below anything a process maps, aligned like a pointer.
  static std::atomic<std::uintptr_t> next{0x10000};
  return reinterpret_cast<void*>(next.fetch_add(64, std::memory_order_relaxed));
}

void set_stream_of(const void* handle, void* stream) {
  const std::lock_guard lock(streams().mutex);
  streams().of_handle[handle] = stream;
}

void* stream_of(const void* handle) {
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().of_handle.find(handle);
  return found == streams().of_handle.end() ? nullptr : found->second;
}

}  // namespace tidemark
