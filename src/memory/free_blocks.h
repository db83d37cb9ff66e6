// The free blocks of one pool and stream, smallest first, equal ones by the age that they have of late and then by
// address: the order of BlockComparatorSizeCounterAddress (c10/cuda/CUDACachingAllocator.cpp, torch 2.15.0) and, where
// all have the same age, of BlockComparatorSize (2.11.0), within a stream.
//
// Note [Chunks]
// A sorted array would do for a hundred free blocks, a tree for a million.  This is the array cut into chunks of at
// most 16 entries: an insertion moves half a chunk at worst, a search looks at few places that lie together, and
// nothing is allocated once the chunks are there.  Of 64 entries a training's requests take half as long again
// (bench_allocator).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "memory/block.h"

namespace tidemark {

class FreeBlocks {
 public:
  struct Entry {
    std::int64_t bytes, address;
    BlockId block;
    std::uint32_t age;  // Block::age
  };
  /// Where an entry stands; any insertion or erasure makes it void.
  struct Position {
    std::uint32_t chunk, slot;
    bool operator==(const Position&) const = default;
  };

  void insert(const Entry& entry);
  void erase(Position position);
  /// Puts another entry in the place of one: of the others move those that it passes.
  void replace(Position position, const Entry& entry);
  /// The entry must be there.
  Position find(const Entry& entry) const;

  Position begin() const { return {0, 0}; }
  Position end() const { return {static_cast<std::uint32_t>(chunks_.size()), 0}; }
  /// The first entry that is not before another.
  Position lower_bound(const Entry& entry) const;
  /// The first entry of at least that size.
  Position lower_bound(std::int64_t bytes) const { return lower_bound(Entry{bytes, INT64_MIN, kNoBlock, 0}); }
  Position after(Position position) const {
    return position.slot + 1 < chunks_[position.chunk]->count ? Position{position.chunk, position.slot + 1}
                                                              : Position{position.chunk + 1, 0};
  }
  Position before(Position position) const {
    return position.slot > 0 ? Position{position.chunk, position.slot - 1}
                             : Position{position.chunk - 1, chunks_[position.chunk - 1]->count - 1};
  }
  const Entry& at(Position position) const { return chunks_[position.chunk]->entries[position.slot]; }
  bool empty() const { return chunks_.empty(); }

 private:
  static bool is_before(const Entry& entry, const Entry& other) {
    if (entry.bytes != other.bytes) return entry.bytes < other.bytes;
    return entry.age != other.age ? entry.age < other.age : entry.address < other.address;
  }
  static std::uint32_t count_smaller(const Entry* entries, std::int64_t bytes);

  static constexpr Entry kUnused{INT64_MAX, INT64_MAX, kNoBlock, UINT32_MAX};
  static constexpr std::uint32_t kChunkEntries = 16;
  struct Chunk {
    std::uint32_t count = 0;
    std::array<Entry, kChunkEntries> entries;  // behind `count`: of the largest size, so that a search need not look
    Entry& last() { return entries[count - 1]; }
  };

  std::unique_ptr<Chunk> new_chunk();
  void split(std::size_t chunk);
  void drop(std::size_t chunk);

  std::vector<std::unique_ptr<Chunk>> chunks_;  // none is empty
  std::vector<std::unique_ptr<Chunk>> spare_;
};

// Here, and not in the source file, what every request comes by once or twice.

/// How many entries of a chunk are smaller, where its last is not: of every fourth, then of the four between.  The
/// comparisons of a round wait for nothing, where a binary search waits for memory at every turn.
inline std::uint32_t FreeBlocks::count_smaller(const Entry* entries, std::int64_t bytes) {
  std::uint32_t count = 0;
  for (const std::uint32_t stride : {4U, 1U}) {
    const Entry* const last = entries + count + stride - 1;
    std::uint32_t smaller = 0;
    for (std::uint32_t i = 0; i < 3; ++i) smaller += last[std::size_t{i} * stride].bytes < bytes ? 1 : 0;
    count += smaller * stride;
  }
  return count;
}

inline FreeBlocks::Position FreeBlocks::lower_bound(const Entry& key) const {
  std::size_t first = 0, count = chunks_.size();
  while (count > 0) {
    const std::size_t half = count / 2;
    if (is_before(chunks_[first + half]->last(), key)) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (first == chunks_.size()) return end();
  const Chunk& chunk = *chunks_[first];  // whose last entry is not before the key
  std::uint32_t slot = count_smaller(chunk.entries.data(), key.bytes);
  while (is_before(chunk.entries[slot], key)) ++slot;  // few are of the same size
  return {static_cast<std::uint32_t>(first), slot};
}

inline FreeBlocks::Position FreeBlocks::find(const Entry& entry) const {
  const Position position = lower_bound(entry);
  TM_CHECK(position != end() && at(position).block == entry.block, "a free block is not in its pool");
  return position;
}

inline void FreeBlocks::replace(Position position, const Entry& entry) {
  const std::size_t number = position.chunk;
  const bool is_behind_others = number == 0 || is_before(chunks_[number - 1]->last(), entry);
  if (!is_behind_others || (number + 1 < chunks_.size() && is_before(chunks_[number + 1]->entries[0], entry))) {
    erase(position);
    return insert(entry);
  }
  Chunk& chunk = *chunks_[number];
  Entry* const first = chunk.entries.data();
  Entry* at = first + position.slot;
  for (; at != first && !is_before(at[-1], entry); --at) *at = at[-1];
  for (; at != &chunk.last() && is_before(at[1], entry); ++at) *at = at[1];
  *at = entry;
}

inline void FreeBlocks::erase(Position position) {
  Chunk& chunk = *chunks_[position.chunk];
  Entry* const at = chunk.entries.data() + position.slot;
  std::move(at + 1, chunk.entries.data() + chunk.count, at);
  chunk.entries[--chunk.count] = kUnused;
  if (chunk.count == 0) drop(position.chunk);
}

}  // namespace tidemark
