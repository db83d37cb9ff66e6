#include "memory/driver_memory.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"

namespace tidemark {
namespace {

std::int64_t whole_pages(std::int64_t bytes) {
  return (bytes + DriverMemory::kPageBytes - 1) / DriverMemory::kPageBytes * DriverMemory::kPageBytes;
}

}  // namespace

DriverMemory::DriverMemory(const DriverMemoryConfig& config) : config_(config) {
  const auto sensible = [](std::int64_t bytes) { return bytes >= 0 && bytes <= kMostBytes; };
  if (config.total_bytes == 0 || !sensible(config.total_bytes) || !sensible(config.unavailable_bytes) ||
      !sensible(config.context_bytes))
    throw Error(Errc::bad_value, fmt::format("a card of {} bytes, {} unavailable, {} for the context",
                                             config.total_bytes, config.unavailable_bytes, config.context_bytes));
  capacity_bytes_ = config.total_bytes - config.unavailable_bytes - config.context_bytes;
}

std::optional<std::int64_t> DriverMemory::place(std::int64_t pages_bytes) const {
  if (!has_holes_ && !ranges_.empty()) {  // a program that has freed nothing: next to what it took last
    const auto& [first, last] = std::pair(*ranges_.begin(), *ranges_.rbegin());
    const std::int64_t end = last.first + whole_pages(last.second.bytes);
    if (config_.addresses == AddressOrder::ascending)
      return kSpanBytes - end >= pages_bytes ? std::optional(end) : std::nullopt;
    return first.first + kSpanBytes >= pages_bytes ? std::optional(first.first - pages_bytes) : std::nullopt;
  }
  if (config_.addresses == AddressOrder::ascending) {
    std::int64_t at = 0;
    for (const auto& [start, range] : ranges_) {
      if (start - at >= pages_bytes) return at;
      at = start + whole_pages(range.bytes);
    }
    return kSpanBytes - at >= pages_bytes ? std::optional(at) : std::nullopt;
  }
  std::int64_t end = 0;
  for (auto it = ranges_.rbegin(); it != ranges_.rend(); ++it) {
    if (end - (it->first + whole_pages(it->second.bytes)) >= pages_bytes) return end - pages_bytes;
    end = it->first;
  }
  return end + kSpanBytes >= pages_bytes ? std::optional(end - pages_bytes) : std::nullopt;
}

std::optional<std::int64_t> DriverMemory::allocate(std::int64_t bytes) {
  if (bytes > kMostBytes || used_bytes_ + whole_pages(bytes) > capacity_bytes_) return std::nullopt;
  const auto address = place(whole_pages(bytes));
  if (!address) return std::nullopt;
  ranges_.emplace(*address, Range{bytes, true});
  used_bytes_ += whole_pages(bytes);
  return address;
}

void DriverMemory::free(std::int64_t address) {
  const auto it = ranges_.find(address);
  TM_CHECK(it != ranges_.end(), "freed what the driver did not hand out");
  if (it->second.committed) used_bytes_ -= whole_pages(it->second.bytes);
  ranges_.erase(it);
  has_holes_ = !ranges_.empty();
}

std::optional<std::int64_t> DriverMemory::reserve_addresses(std::int64_t bytes) {
  if (bytes > kSpanBytes) return std::nullopt;
  const auto address = place(whole_pages(bytes));
  if (address) ranges_.emplace(*address, Range{bytes, false});
  return address;
}

bool DriverMemory::commit(std::int64_t bytes) {
  if (bytes > kMostBytes || used_bytes_ + bytes > capacity_bytes_) return false;
  used_bytes_ += bytes;
  return true;
}

void DriverMemory::uncommit(std::int64_t bytes) { used_bytes_ -= bytes; }

std::int64_t DriverMemory::free_bytes() const { return std::max<std::int64_t>(capacity_bytes_ - used_bytes_, 0); }

std::int64_t DriverMemory::process_bytes() const { return used_bytes_ + config_.context_bytes; }

}  // namespace tidemark
