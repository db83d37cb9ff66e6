#include "handles.h"

#include <atomic>
#include <cstdint>

namespace tidemark {

void* new_handle() {
  // 4 KiB upwards in steps of 64: below anything a process maps, aligned like a pointer.
  static std::atomic<std::uintptr_t> next{0x10000};
  return reinterpret_cast<void*>(next.fetch_add(64, std::memory_order_relaxed));
}

}  // namespace tidemark
