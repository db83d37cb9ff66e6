#include "memory/free_blocks.h"

#include <algorithm>

#include "base/check.h"

namespace tidemark {
namespace {

struct Key {
  std::int64_t bytes, address;
};

bool is_before(const FreeBlocks::Entry& entry, const Key& key) {
  return entry.bytes != key.bytes ? entry.bytes < key.bytes : entry.address < key.address;
}

constexpr FreeBlocks::Entry kUnused{INT64_MAX, INT64_MAX, kNoBlock};

/// How many entries of a chunk are smaller: of every eighth first, then of the eight between.  The comparisons of a
/// round wait for nothing, where a binary search waits for memory at every turn.
std::uint32_t count_smaller(const FreeBlocks::Entry* entries, std::int64_t bytes) {
  constexpr std::uint32_t kStride = 8;
  std::uint32_t rows = 0, count = 0;
  for (std::uint32_t i = kStride - 1; i + 1 < kStride * kStride; i += kStride) rows += entries[i].bytes < bytes ? 1 : 0;
  const FreeBlocks::Entry* row = entries + std::size_t{rows} * kStride;
  for (std::uint32_t i = 0; i < kStride; ++i) count += row[i].bytes < bytes ? 1 : 0;
  return rows * kStride + count;
}

}  // namespace

FreeBlocks::Position FreeBlocks::lower_bound(std::int64_t bytes, std::int64_t address) const {
  const Key key{bytes, address};
  std::size_t first = 0, count = chunks_.size();
  while (count > 0) {
    const std::size_t half = count / 2;
    const Chunk& middle = *chunks_[first + half];
    if (is_before(middle.entries[middle.count - 1], key)) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (first == chunks_.size()) return end();
  const Chunk& chunk = *chunks_[first];  // whose last entry is not before the key
  std::uint32_t slot = count_smaller(chunk.entries.data(), bytes);
  while (is_before(chunk.entries[slot], key)) ++slot;  // few are of the same size
  return {static_cast<std::uint32_t>(first), slot};
}

void FreeBlocks::insert(std::int64_t bytes, std::int64_t address, BlockId block) {
  Position position = lower_bound(bytes, address);
  if (chunks_.empty()) chunks_.push_back(new_chunk());
  if (position.chunk == chunks_.size() ||
      chunks_[position.chunk]->count == 0) {  // after everything: at the end of the last chunk
    position.chunk = static_cast<std::uint32_t>(chunks_.size() - 1);
    position.slot = chunks_[position.chunk]->count;
  }
  if (chunks_[position.chunk]->count == kChunkEntries) {
    split(position.chunk);
    if (const std::uint32_t left = chunks_[position.chunk]->count; position.slot > left)
      position = {position.chunk + 1, position.slot - left};
  }
  Chunk& chunk = *chunks_[position.chunk];
  Entry* const at = chunk.entries.data() + position.slot;
  std::move_backward(at, chunk.entries.data() + chunk.count, chunk.entries.data() + chunk.count + 1);
  *at = {bytes, address, block};
  ++chunk.count;
}

FreeBlocks::Position FreeBlocks::find(std::int64_t bytes, std::int64_t address) const {
  const Position position = lower_bound(bytes, address);
  TM_CHECK(position != end() && at(position).bytes == bytes && at(position).address == address,
           "a free block is not in its pool");
  return position;
}

void FreeBlocks::replace(Position position, std::int64_t bytes, std::int64_t address, BlockId block) {
  const Key key{bytes, address};
  const Position next = after(position);
  const bool fits =
      (position == begin() || is_before(at(before(position)), key)) && (next == end() || !is_before(at(next), key));
  if (fits) {
    chunks_[position.chunk]->entries[position.slot] = {bytes, address, block};
  } else {
    erase(position);
    insert(bytes, address, block);
  }
}

void FreeBlocks::erase(Position position) {
  Chunk& chunk = *chunks_[position.chunk];
  Entry* const at = chunk.entries.data() + position.slot;
  std::move(at + 1, chunk.entries.data() + chunk.count, at);
  chunk.entries[--chunk.count] = kUnused;
  if (chunk.count > 0) return;
  spare_.push_back(std::move(chunks_[position.chunk]));
  chunks_.erase(chunks_.begin() + position.chunk);
}

std::unique_ptr<FreeBlocks::Chunk> FreeBlocks::new_chunk() {
  if (spare_.empty()) {
    auto chunk = std::make_unique<Chunk>();
    chunk->entries.fill(kUnused);
    return chunk;
  }
  std::unique_ptr<Chunk> chunk = std::move(spare_.back());
  spare_.pop_back();
  return chunk;
}

void FreeBlocks::split(std::size_t index) {
  std::unique_ptr<Chunk> right = new_chunk();
  Chunk& left = *chunks_[index];
  left.count = kChunkEntries / 2;
  right->count = kChunkEntries - left.count;
  Entry* const moved = left.entries.data() + left.count;
  std::copy_n(moved, right->count, right->entries.data());
  std::fill_n(moved, right->count, kUnused);
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(right));
}

}  // namespace tidemark
