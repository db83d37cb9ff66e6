#include "device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "card.h"
#include "notes.h"

namespace tidemark {
namespace {

constexpr std::size_t kPageBytes = std::size_t{2} << 20;        // what the driver maps device memory in
constexpr std::size_t kCopiedAtMostBytes = std::size_t{16} << 20;
constexpr std::size_t kFloatCopiedAtMostBytes = std::size_t{64} << 10;
constexpr std::size_t kHostPageBytes = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

struct Mapping { std::byte* base; std::size_t bytes; };

/// As much address space as the kernel grants: 8 TiB, or less where overcommit is forbidden or limited.
Mapping map_addresses() {
  for (std::size_t bytes = std::size_t{8} << 40; bytes >= std::size_t{1} << 30; bytes /= 2) {
    void* base = mmap(nullptr, bytes + kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    madvise(base, bytes, MADV_DONTDUMP);
    madvise(base, bytes, MADV_NOHUGEPAGE);   // a touched scalar must cost 4 KiB of host memory, not 2 MiB
    if (bytes < std::size_t{1} << 40)
      std::fprintf(stderr, "tidemark: this kernel grants only %zu GiB of address space; larger cards cannot be played\n", bytes >> 30);
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    return {reinterpret_cast<std::byte*>((address + kPageBytes - 1) / kPageBytes * kPageBytes), bytes};
  }
  std::fprintf(stderr, "tidemark: no address space for the virtual GPU (see `ulimit -v`)\n");
  std::_Exit(3);
}

}  // namespace

DeviceMemory::DeviceMemory(std::byte* base, std::size_t span_bytes, std::int64_t capacity_bytes, bool addresses_descend)
    : base_(base), span_bytes_(span_bytes), capacity_bytes_(capacity_bytes), addresses_descend_(addresses_descend) {}

/// First fit from the end that the policy starts at.
std::byte* DeviceMemory::place(std::size_t bytes) {
  if (!addresses_descend_) {
    std::byte* at = base_;
    for (const auto& [start, range] : ranges_) {
      if (static_cast<std::size_t>(start - at) >= bytes) return at;
      at = start + whole_pages(range.bytes);
    }
    return static_cast<std::size_t>(base_ + span_bytes_ - at) >= bytes ? at : nullptr;
  }
  std::byte* end = base_ + span_bytes_;
  for (auto it = ranges_.rbegin(); it != ranges_.rend(); ++it) {
    std::byte* range_end = it->first + whole_pages(it->second.bytes);
    if (static_cast<std::size_t>(end - range_end) >= bytes) return end - bytes;
    end = it->first;
  }
  return static_cast<std::size_t>(end - base_) >= bytes ? end - bytes : nullptr;
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t pages_bytes = whole_pages(std::max<std::size_t>(bytes, 1));
  if (used_bytes_ + static_cast<std::int64_t>(pages_bytes) > capacity_bytes_) return nullptr;
  std::byte* start = place(pages_bytes);
  if (!start) return nullptr;
  ranges_.emplace(start, Range{bytes, true});
  used_bytes_ += static_cast<std::int64_t>(pages_bytes);
  return start;
}

bool DeviceMemory::free(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto it = ranges_.find(static_cast<std::byte*>(pointer));
  if (it == ranges_.end()) return false;
  const std::size_t pages_bytes = whole_pages(it->second.bytes);
  if (it->second.committed) used_bytes_ -= static_cast<std::int64_t>(pages_bytes);
  madvise(pointer, pages_bytes, MADV_DONTNEED);
  ranges_.erase(it);
  return true;
}

void* DeviceMemory::reserve_addresses(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::byte* start = place(whole_pages(bytes));
  if (start) ranges_.emplace(start, Range{bytes, false});
  return start;
}

bool DeviceMemory::release_addresses(void* pointer) { return free(pointer); }

bool DeviceMemory::commit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (used_bytes_ + static_cast<std::int64_t>(bytes) > capacity_bytes_) return false;
  used_bytes_ += static_cast<std::int64_t>(bytes);
  return true;
}

void DeviceMemory::uncommit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= static_cast<std::int64_t>(bytes);
}

bool DeviceMemory::owns(const void* pointer) const {
  const auto* address = static_cast<const std::byte*>(pointer);
  return address >= base_ && address < base_ + span_bytes_;
}

bool DeviceMemory::find(const void* pointer, void** start, std::size_t* bytes) const {
  const std::lock_guard lock(mutex_);
  auto it = ranges_.upper_bound(static_cast<std::byte*>(const_cast<void*>(pointer)));
  if (it == ranges_.begin()) return false;
  it = std::prev(it);
  if (static_cast<const std::byte*>(pointer) >= it->first + it->second.bytes) return false;
  *start = it->first;
  *bytes = it->second.bytes;
  return true;
}

std::int64_t DeviceMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

DeviceMemory& device_memory() {
  static auto* memory = [] {   // never destroyed: blocks are freed after static destructors have run
    const Mapping mapping = map_addresses();
    return new DeviceMemory(mapping.base, mapping.bytes, card().total_bytes - card().driver_reserved_bytes - card().context_bytes, card().addresses_descend);
  }();
  return *memory;
}

void fill(void* pointer, int value, std::size_t bytes) {
  if (bytes <= kHostPageBytes || value != 0) {
    if (bytes <= kCopiedAtMostBytes) std::memset(pointer, value, bytes);
    return;
  }
  auto* start = static_cast<std::byte*>(pointer);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::size_t head = (kHostPageBytes - address % kHostPageBytes) % kHostPageBytes;
  const std::size_t whole = (bytes - head) / kHostPageBytes * kHostPageBytes;
  std::memset(start, 0, head);
  if (whole) madvise(start + head, whole, MADV_DONTNEED);
  std::memset(start + head + whole, 0, bytes - head - whole);
}

void copy(void* destination, const void* source, std::size_t bytes) {
  if (bytes <= (data_is_float() ? kFloatCopiedAtMostBytes : kCopiedAtMostBytes)) std::memmove(destination, source, bytes);
}

}  // namespace tidemark
