#include "memory/free_blocks.h"

#include <algorithm>

#include "base/check.h"

namespace tidemark {
namespace {

struct Key {
  std::int64_t bytes, address;
};

bool is_before(const FreeBlocks::Entry& entry, const Key& key) {
  // Without the branches of || and &&: which way they go cannot be foreseen.
  return static_cast<bool>(static_cast<int>(entry.bytes < key.bytes) | (static_cast<int>(entry.bytes == key.bytes) &
                                                                        static_cast<int>(entry.address < key.address)));
}

/// How many of `count` sorted entries stand before `key`; without branches that depend on the data.
std::uint32_t entries_before(const FreeBlocks::Entry* entries, std::uint32_t count, const Key& key) {
  const FreeBlocks::Entry* at = entries;
  while (count > 1) {
    const std::uint32_t half = count / 2;
    at += static_cast<std::ptrdiff_t>(half) * static_cast<std::ptrdiff_t>(is_before(at[half - 1], key));
    count -= half;
  }
  return static_cast<std::uint32_t>(at - entries) + (count == 1 && is_before(*at, key) ? 1 : 0);
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
  return {static_cast<std::uint32_t>(first),
          entries_before(chunks_[first]->entries.data(), chunks_[first]->count, key)};
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

void FreeBlocks::erase(std::int64_t bytes, std::int64_t address) {
  const Position position = lower_bound(bytes, address);
  TM_CHECK(position != end() && at(position).bytes == bytes && at(position).address == address,
           "a free block is not in its pool");
  erase(position);
}

void FreeBlocks::erase(Position position) {
  Chunk& chunk = *chunks_[position.chunk];
  Entry* const at = chunk.entries.data() + position.slot;
  std::move(at + 1, chunk.entries.data() + chunk.count, at);
  if (--chunk.count > 0) return;
  spare_.push_back(std::move(chunks_[position.chunk]));
  chunks_.erase(chunks_.begin() + position.chunk);
}

std::unique_ptr<FreeBlocks::Chunk> FreeBlocks::new_chunk() {
  if (spare_.empty()) return std::make_unique<Chunk>();
  std::unique_ptr<Chunk> chunk = std::move(spare_.back());
  spare_.pop_back();
  return chunk;
}

void FreeBlocks::split(std::size_t index) {
  std::unique_ptr<Chunk> right = new_chunk();
  Chunk& left = *chunks_[index];
  left.count = kChunkEntries / 2;
  right->count = kChunkEntries - left.count;
  std::copy_n(left.entries.data() + left.count, right->count, right->entries.data());
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(right));
}

}  // namespace tidemark
