#include "notes.h"

#include <atomic>
#include <cstring>
#include <deque>

#include "device_memory.h"

namespace tidemark {
namespace {

std::atomic<void (*)(const void*, int)> on_role{nullptr};
thread_local std::deque<std::int64_t> promised_counts;
thread_local bool float_data = false;

}  // namespace

void note_role(const void* pointer, Role role) {
  if (auto* callback = on_role.load(); callback && pointer) callback(pointer, static_cast<int>(role));
}

bool take_promised_count(void* destination, std::size_t bytes) {
  if (promised_counts.empty() || (bytes != sizeof(std::int32_t) && bytes != sizeof(std::int64_t))) return false;
  std::memcpy(destination, &promised_counts.front(), bytes);   // little-endian: the low half is the 32-bit value
  promised_counts.pop_front();
  return true;
}

bool data_is_float() { return float_data; }

}  // namespace tidemark

void tidemark_on_role(void (*callback)(const void*, int)) { tidemark::on_role = callback; }
void tidemark_promise_count(std::int64_t count) { tidemark::promised_counts.push_back(count); }
void tidemark_forget_promises() { tidemark::promised_counts.clear(); }
void tidemark_data_is_float(bool yes) { tidemark::float_data = yes; }
void tidemark_fill(void* pointer, int value, std::size_t bytes) { tidemark::fill(pointer, value, bytes); }
