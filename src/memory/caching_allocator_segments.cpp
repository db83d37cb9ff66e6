// Segments: taken from the driver, and what makes them go back.
#include "base/check.h"
#include "memory/caching_allocator.h"
#include "memory/size_classes.h"

namespace tidemark {

/// alloc_block: a free block that is in no pool; kNoBlock when the card or the fraction allowed is full.
BlockId CachingAllocator::new_segment(const Request& request, bool is_retry) {
  if (is_retry) ++stats_.num_alloc_retries;
  const std::int64_t bytes = request.segment_bytes;
  if (allowed_bytes_ && stats_.reserved_bytes.current + bytes > *allowed_bytes_) return kNoBlock;
  if (settings_.expandable_segments) return grow_expandable(request);
  const auto address = driver_.allocate(bytes);
  if (!address) return kNoBlock;
  const BlockId id = blocks_.create();
  Block& block = blocks_[id];
  block.address = *address;
  block.bytes = bytes;
  block.stream = request.stream;
  block.small = request.pool->small;
  if (rules_.equal_blocks != EqualBlocks::lowest) block.age = ++last_age_;
  stats_.reserved_bytes.add(bytes);
  ++stats_.num_device_alloc;
  ++request.pool->driver_calls;
  emit(EventKind::segment_alloc, block.address, bytes, block.stream);
  return id;
}

/// garbage_collect_cached_blocks: whole free blocks of the large pool, those of more than average age, until enough has
/// gone. A block's age is the number of searches in its pool since it was freed.
void CachingAllocator::collect_garbage() {
  const auto threshold = static_cast<std::int64_t>(settings_.garbage_collection_threshold *
                                                   static_cast<double>(allowed_bytes_.value_or(0)));
  if (stats_.reserved_bytes.current <= threshold) return;
  const std::int64_t target_bytes = stats_.reserved_bytes.current - threshold;
  const auto age_of = [&](const Block& block) { return large_pool_.searches - block.searches_when_freed; };
  std::int64_t total_age = 0, count = 0, reclaimed_bytes = 0;
  std::vector<BlockId>& whole = scratch_;
  whole.clear();
  for (const FreeBlocks& free : large_pool_.by_stream)
    for (auto at = free.begin(); at != free.end(); at = free.after(at)) {
      const BlockId id = free.at(at).block;
      if (blocks_[id].is_split()) continue;
      total_age += age_of(blocks_[id]);
      ++count;
      if (!blocks_[id].is_expandable()) whole.push_back(id);
    }
  for (bool freed = true; freed && reclaimed_bytes < target_bytes && count > 0;) {
    const double threshold_age = static_cast<double>(total_age) / static_cast<double>(count);
    freed = false;
    std::erase_if(whole, [&](BlockId id) {
      const std::int64_t age = age_of(blocks_[id]);
      if (static_cast<double>(age) < threshold_age) return false;
      reclaimed_bytes += blocks_[id].bytes;
      total_age -= age;
      --count;
      release_block(id);
      return freed = true;
    });
  }
}

/// release_available_cached_blocks, for max_split_size_mb: one cached block that is large enough, or the largest
/// oversize ones.
bool CachingAllocator::release_enough(const Request& request) {
  if (settings_.max_split_bytes == AllocatorSettings::kUnlimited) return false;
  FreeBlocks& free = free_blocks(*request.pool, request.stream);
  const std::int64_t wanted_bytes = std::max(request.bytes, settings_.max_split_bytes);
  auto at = free.lower_bound(wanted_bytes);
  if (at != free.end() && !settings_.expandable_segments) {
    release_block(free.at(at).block);
    return true;
  }
  std::int64_t released_bytes = 0;
  scratch_.clear();
  while (at != free.begin() && released_bytes < wanted_bytes) {
    at = free.before(at);
    if (free.at(at).bytes < settings_.max_split_bytes) break;
    if (settings_.expandable_segments) continue;
    released_bytes += free.at(at).bytes;
    scratch_.push_back(free.at(at).block);
  }
  for (const BlockId id : scratch_) release_block(id);
  return released_bytes >= wanted_bytes;
}

void CachingAllocator::release_cached_blocks() {
  ++stats_.num_sync_all_streams;
  finish_events();
  release_blocks(large_pool_);
  release_blocks(small_pool_);
}

void CachingAllocator::release_blocks(Pool& pool) {
  scratch_.clear();
  to_unmap_.clear();
  for (const FreeBlocks& free : pool.by_stream)
    for (auto at = free.begin(); at != free.end(); at = free.after(at)) {
      const Block& block = blocks_[free.at(at).block];
      if (block.is_expandable()) {
        to_unmap_.push_back(free.at(at).block);
      } else if (!block.is_split()) {
        scratch_.push_back(free.at(at).block);
      }
    }
  for (const BlockId id : scratch_) release_block(id);
  for (const BlockId id : to_unmap_) {
    unmap_block(id);
    if (!blocks_[id].is_split()) release_expandable_segment(id);
  }
}

void CachingAllocator::release_block(BlockId id) {
  const Block& block = blocks_[id];
  TM_CHECK(!block.is_split() && !block.is_expandable(), "a segment in use goes back");
  ++stats_.num_device_free;
  ++pool_of(block).driver_calls;
  emit(EventKind::segment_free, block.address, block.bytes, block.stream);
  driver_.free(block.address);
  if (stream_order_) stream_order_->host_waits_for_all();  // cudaFree
  stats_.reserved_bytes.remove(block.bytes);
  erase_free(pool_of(block), id);
  blocks_.remove(id);
}

}  // namespace tidemark
