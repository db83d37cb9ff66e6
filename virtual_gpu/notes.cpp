#include "notes.h"

#include <atomic>
#include <cstring>
#include <vector>

#include "device_memory.h"

namespace tidemark {
namespace {

std::atomic<void (*)(const void*, int)> on_role{nullptr};
struct Promise {
  std::int64_t count;
  bool open;
};
thread_local std::vector<Promise> promises;  // one for each operation that is running; operations nest
std::atomic<long> times_asked{0}, taken_as_equal{0};
thread_local bool float_data = false;

}  // namespace

void note_role(const void* pointer, Role role) {
  if (auto* callback = on_role.load(); callback && pointer) callback(pointer, static_cast<int>(role));
}

bool take_promised_count(void* destination, std::size_t bytes) {
  if (promises.empty() || !promises.back().open || (bytes != sizeof(std::int32_t) && bytes != sizeof(std::int64_t)))
    return false;
  std::memcpy(destination, &promises.back().count, bytes);  // little-endian: the low half is the 32-bit value
  promises.back().open = false;
  return true;
}

void note_time_asked() { times_asked.fetch_add(1, std::memory_order_relaxed); }

void note_taken_as_equal() { taken_as_equal.fetch_add(1, std::memory_order_relaxed); }

bool data_is_float() { return float_data; }

}  // namespace tidemark

void tidemark_on_role(void (*callback)(const void*, int)) { tidemark::on_role = callback; }
void tidemark_promise_count(std::int64_t count) { tidemark::promises.push_back({count, true}); }
void tidemark_withdraw_promise() {
  if (!tidemark::promises.empty()) tidemark::promises.pop_back();
}
long tidemark_taken_as_equal() { return tidemark::taken_as_equal.load(); }
long tidemark_times_asked() { return tidemark::times_asked.load(); }
void tidemark_data_is_float(bool yes) { tidemark::float_data = yes; }
void tidemark_fill(void* pointer, int value, std::size_t bytes) { tidemark::fill(pointer, value, bytes); }
