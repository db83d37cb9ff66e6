// The free blocks of one pool and stream, smallest first and equal ones by address: the order of BlockComparatorSize
// (c10/cuda/CUDACachingAllocator.cpp, torch 2.11.0) within a stream.
//
// Note [Chunks]
// A sorted array would do for a hundred free blocks, a tree for a million.  This is the array cut into chunks of at
// most 64 entries: an insertion moves half a chunk at worst, a search looks at few places that lie together, and
// nothing is allocated once the chunks are there.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/block.h"

namespace tidemark {

class FreeBlocks {
 public:
  struct Entry {
    std::int64_t bytes, address;
    BlockId block;
  };
  /// Where an entry stands; any insertion or erasure makes it void.
  struct Position {
    std::uint32_t chunk, slot;
    bool operator==(const Position&) const = default;
  };

  void insert(std::int64_t bytes, std::int64_t address, BlockId block);
  void erase(Position position);
  /// Puts another entry in the place of one: where the order allows it nothing moves.
  void replace(Position position, std::int64_t bytes, std::int64_t address, BlockId block);
  /// The entry must be there.
  Position find(std::int64_t bytes, std::int64_t address) const;

  Position begin() const { return {0, 0}; }
  Position end() const { return {static_cast<std::uint32_t>(chunks_.size()), 0}; }
  /// The first entry of at least that size and, among equal sizes, that address.
  Position lower_bound(std::int64_t bytes, std::int64_t address = INT64_MIN) const;
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
  static constexpr std::uint32_t kChunkEntries = 64;
  struct Chunk {
    std::uint32_t count = 0;
    std::array<Entry, kChunkEntries> entries;  // behind `count`: of the largest size, so that a search need not look
  };

  std::unique_ptr<Chunk> new_chunk();
  void split(std::size_t chunk);

  std::vector<std::unique_ptr<Chunk>> chunks_;  // none is empty
  std::vector<std::unique_ptr<Chunk>> spare_;
};

}  // namespace tidemark
