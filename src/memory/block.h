// A piece of a segment, free or in use.  torch 2.11.0: c10/cuda/CUDACachingAllocator.cpp, struct Block.
#pragma once
#include <cstdint>
#include <vector>

#include "memory/allocator.h"

namespace tidemark {

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = 0xffffffff;
using ExpandableSegmentId = std::uint32_t;
inline constexpr ExpandableSegmentId kNotExpandable = 0xffffffff;

struct alignas(64) Block {
  std::int64_t address = 0, bytes = 0;
  std::int64_t requested_bytes = 0;
  std::int64_t searches_when_freed = 0;          // gc_count_base
  BlockId previous = kNoBlock, next = kNoBlock;  // neighbours in the segment
  StreamId stream = 0;
  ExpandableSegmentId expandable = kNotExpandable;
  std::uint32_t age = 0;    // registration_counter: the lower, the older, of free blocks of one size
  std::int32_t events = 0;  // outstanding on other streams
  bool small = false;       // of the small pool
  bool allocated = false;
  bool mapped = true;           // false: addresses of an expandable segment without memory
  bool used_elsewhere = false;  // record_stream has named another stream

  bool is_split() const { return previous != kNoBlock || next != kNoBlock; }
  bool is_expandable() const { return expandable != kNotExpandable; }
  /// Free, and not waiting for another stream.
  bool is_available() const { return !allocated && events == 0 && !used_elsewhere; }
};

/// All blocks of an allocator by number; numbers of deleted blocks are used again, so that a steady state allocates
/// nothing.
class Blocks {
 public:
  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }

  /// References to other blocks do not survive it.
  BlockId create() {
    if (unused_.empty()) {
      blocks_.emplace_back();
      return static_cast<BlockId>(blocks_.size() - 1);
    }
    const BlockId id = unused_.back();
    unused_.pop_back();
    blocks_[id] = Block{};
    return id;
  }
  void remove(BlockId id) {
    blocks_[id].allocated = false;
    blocks_[id].bytes = 0;
    unused_.push_back(id);
  }
  /// Whether `id` was ever a block: a caller's mistake shows here instead of in a wild read.
  bool knows(BlockId id) const { return id < blocks_.size(); }

 private:
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;
};

}  // namespace tidemark
