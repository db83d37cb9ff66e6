#include "device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "card.h"
#include "devices.h"
#include "notes.h"

namespace tidemark {
namespace {

constexpr std::size_t kPageBytes = std::size_t{2} << 20;  // what the driver maps device memory in
constexpr std::size_t kCopiedAtMostBytes = std::size_t{16} << 20;
constexpr std::size_t kFloatCopiedAtMostBytes = std::size_t{64} << 10;
constexpr std::size_t kHostPageBytes = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

struct Mapping {
  std::byte* base;
  std::size_t bytes;
};

/// As much address space as the kernel grants: half of what x86-64 has for a process, or less where overcommit is
/// forbidden or limited. It is for all cards of a node, on each of which an expandable segment takes 9/8 of the card
/// for every stream and pool (c10/cuda/CUDACachingAllocator.cpp, ExpandableSegment).
Mapping map_addresses() {
  for (std::size_t bytes = std::size_t{64} << 40; bytes >= std::size_t{1} << 30; bytes /= 2) {
    void* base =
        mmap(nullptr, bytes + kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    madvise(base, bytes, MADV_DONTDUMP);
    madvise(base, bytes, MADV_NOHUGEPAGE);  // a touched scalar must cost 4 KiB of host memory, not 2 MiB
    if (bytes < std::size_t{1} << 40)
      std::fprintf(stderr,
                   "tidemark: this kernel grants only %zu GiB of address space; larger cards cannot be played\n",
                   bytes >> 30);
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    return {reinterpret_cast<std::byte*>((address + kPageBytes - 1) / kPageBytes * kPageBytes), bytes};
  }
  std::fprintf(stderr, "tidemark: no address space for the virtual GPU (see `ulimit -v`)\n");
  std::_Exit(3);
}

}  // namespace

DeviceMemory::DeviceMemory(std::byte* base, std::size_t span_bytes, std::int64_t capacity_bytes, bool addresses_descend,
                           int devices, std::int64_t spill_bytes)
    : base_(base),
      part_bytes_(span_bytes / static_cast<std::size_t>(devices) / kPageBytes * kPageBytes),
      capacity_bytes_(capacity_bytes),
      spill_bytes_(spill_bytes),
      addresses_descend_(addresses_descend) {
  for (int device = 0; device < devices; ++device)
    parts_.push_back({base + static_cast<std::size_t>(device) * part_bytes_, {}});
}

DeviceMemory::Part& DeviceMemory::current_part() {
  return parts_[std::min(static_cast<std::size_t>(current_device()), parts_.size() - 1)];
}

void DeviceMemory::use(Part& part, std::int64_t bytes) {
  part.used_bytes += bytes;
  part.peak_bytes = std::max(part.peak_bytes, part.used_bytes - part.taken_bytes);
}

/// First fit from the end that the policy starts at.
std::byte* DeviceMemory::place(const Part& part, std::size_t bytes) const {
  if (!addresses_descend_) {
    std::byte* at = part.base;
    for (const auto& [start, range] : part.ranges) {
      if (static_cast<std::size_t>(start - at) >= bytes) return at;
      at = start + whole_pages(range.bytes);
    }
    return static_cast<std::size_t>(part.base + part_bytes_ - at) >= bytes ? at : nullptr;
  }
  std::byte* end = part.base + part_bytes_;
  for (auto it = part.ranges.rbegin(); it != part.ranges.rend(); ++it) {
    std::byte* range_end = it->first + whole_pages(it->second.bytes);
    if (static_cast<std::size_t>(end - range_end) >= bytes) return end - bytes;
    end = it->first;
  }
  return static_cast<std::size_t>(end - part.base) >= bytes ? end - bytes : nullptr;
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  Part& part = current_part();
  const std::size_t pages_bytes = whole_pages(std::max<std::size_t>(bytes, 1));
  if (part.used_bytes + static_cast<std::int64_t>(pages_bytes) > capacity_bytes_ + spill_bytes_) return nullptr;
  std::byte* start = place(part, pages_bytes);
  if (!start) return nullptr;
  part.ranges.emplace(start, Range{bytes, true});
  use(part, static_cast<std::int64_t>(pages_bytes));
  return start;
}

bool DeviceMemory::free(void* pointer) {
  if (!owns(pointer)) return false;
  const std::lock_guard lock(mutex_);
  Part& part = parts_[static_cast<std::size_t>(device_of(pointer))];
  const auto it = part.ranges.find(static_cast<std::byte*>(pointer));
  if (it == part.ranges.end()) return false;
  const std::size_t pages_bytes = whole_pages(it->second.bytes);
  if (it->second.committed) part.used_bytes -= static_cast<std::int64_t>(pages_bytes);
  madvise(pointer, pages_bytes, MADV_DONTNEED);
  part.ranges.erase(it);
  return true;
}

void* DeviceMemory::reserve_addresses(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::byte* start = place(current_part(), whole_pages(bytes));
  if (start) current_part().ranges.emplace(start, Range{bytes, false});
  return start;
}

bool DeviceMemory::release_addresses(void* pointer) { return free(pointer); }

bool DeviceMemory::commit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (current_part().used_bytes + static_cast<std::int64_t>(bytes) > capacity_bytes_ + spill_bytes_) return false;
  use(current_part(), static_cast<std::int64_t>(bytes));
  return true;
}

void DeviceMemory::uncommit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  current_part().used_bytes -= static_cast<std::int64_t>(bytes);
}

void DeviceMemory::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  current_part().used_bytes += static_cast<std::int64_t>(bytes);
  current_part().taken_bytes += static_cast<std::int64_t>(bytes);
}

bool DeviceMemory::owns(const void* pointer) const {
  const auto* address = static_cast<const std::byte*>(pointer);
  return address >= base_ && address < base_ + part_bytes_ * parts_.size();
}

int DeviceMemory::device_of(const void* pointer) const {
  return static_cast<int>(static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - base_) / part_bytes_);
}

bool DeviceMemory::find(const void* pointer, void** start, std::size_t* bytes) const {
  if (!owns(pointer)) return false;
  const std::lock_guard lock(mutex_);
  const auto& ranges = part_of(pointer).ranges;
  auto it = ranges.upper_bound(static_cast<std::byte*>(const_cast<void*>(pointer)));
  if (it == ranges.begin()) return false;
  it = std::prev(it);
  if (static_cast<const std::byte*>(pointer) >= it->first + it->second.bytes) return false;
  *start = it->first;
  *bytes = it->second.bytes;
  return true;
}

std::int64_t DeviceMemory::used_bytes() const { return used_bytes(current_device()); }

std::int64_t DeviceMemory::used_bytes(int device) const {
  const std::lock_guard lock(mutex_);
  return parts_[std::min(static_cast<std::size_t>(device), parts_.size() - 1)].used_bytes;
}

std::int64_t DeviceMemory::peak_bytes(int device) const {
  const std::lock_guard lock(mutex_);
  return parts_[std::min(static_cast<std::size_t>(device), parts_.size() - 1)].peak_bytes;
}

DeviceMemory& device_memory() {
  static auto* memory = [] {  // never destroyed: blocks are freed after static destructors have run
    const Mapping mapping = map_addresses();
    return new DeviceMemory(
        mapping.base, mapping.bytes,
        card().total_bytes - card().driver_reserved_bytes - card().context_bytes - card().library_bytes,
        card().addresses_descend, device_count(), card().spill_bytes);
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
  if (bytes <= (data_is_float() ? kFloatCopiedAtMostBytes : kCopiedAtMostBytes))
    std::memmove(destination, source, bytes);
}

}  // namespace tidemark

std::int64_t tidemark_device_peak_bytes(int device) { return tidemark::device_memory().peak_bytes(device); }
