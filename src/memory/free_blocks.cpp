#include "memory/free_blocks.h"

namespace tidemark {

void FreeBlocks::insert(const Entry& entry) {
  Position position = lower_bound(entry);
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
  *at = entry;
  ++chunk.count;
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

/// An empty one.
void FreeBlocks::drop(std::size_t index) {
  spare_.push_back(std::move(chunks_[index]));
  chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace tidemark
