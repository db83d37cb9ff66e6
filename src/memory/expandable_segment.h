// A stretch of addresses, more than the card has memory, that is given memory piece by piece.
// torch 2.11.0: c10/cuda/CUDACachingAllocator.cpp, struct ExpandableSegment and its Note [Expandable Segments].
#pragma once
#include <cstdint>

#include "memory/driver_memory.h"

namespace tidemark {

struct MappedRange {
  std::int64_t address = 0, bytes = 0;
};

class ExpandableSegment {
 public:
  /// Bytes of addresses that a segment reserves: 9/8 of the card, in whole pieces.
  static std::int64_t address_bytes(std::int64_t total_bytes, std::int64_t piece_bytes) {
    return (total_bytes + total_bytes / 8 + piece_bytes - 1) / piece_bytes * piece_bytes;
  }

  ExpandableSegment(std::int64_t address, std::int64_t bytes, std::int64_t piece_bytes)
      : address_(address), bytes_(bytes), piece_bytes_(piece_bytes) {}

  std::int64_t address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }

  /// Gives memory to every piece that the range touches; its start is a piece's.  Nothing (bytes 0) when the card is
  /// full.
  MappedRange map(MappedRange range, DriverMemory& driver) const {
    const std::int64_t first = left(range.address), last = right(range.address + range.bytes);
    if (!driver.commit((last - first) * piece_bytes_)) return {range.address, 0};
    return pieces(first, last);
  }

  /// Takes memory from every piece that lies wholly in the range; bytes 0 when none does.
  MappedRange unmap(MappedRange range, DriverMemory& driver) const {
    const std::int64_t first = right(range.address), last = left(range.address + range.bytes);
    if (first >= last) return {range.address, 0};
    driver.uncommit((last - first) * piece_bytes_);
    return pieces(first, last);
  }

 private:
  std::int64_t left(std::int64_t address) const { return (address - address_) / piece_bytes_; }
  std::int64_t right(std::int64_t address) const { return (address - address_ + piece_bytes_ - 1) / piece_bytes_; }
  MappedRange pieces(std::int64_t first, std::int64_t last) const {
    return {address_ + first * piece_bytes_, (last - first) * piece_bytes_};
  }

  std::int64_t address_, bytes_, piece_bytes_;
};

}  // namespace tidemark
