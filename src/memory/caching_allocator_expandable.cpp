// expandable_segments:True.  One segment per pool and stream; memory is mapped where it is needed and unmapped where
// nothing lies.
#include <algorithm>

#include "base/check.h"
#include "memory/caching_allocator.h"
#include "memory/size_classes.h"

namespace tidemark {

/// try_allocate_expandable_block: maps memory from the lowest place with enough room until a block of the size stands
/// there.
BlockId CachingAllocator::grow_expandable(const Request& request) {
  BlockId candidate = find_room_to_grow(request);
  if (candidate == kNoBlock) return kNoBlock;
  if (!blocks_[candidate].mapped && !map_block(candidate, std::min(blocks_[candidate].bytes, request.bytes)))
    return kNoBlock;
  while (blocks_[candidate].bytes < request.bytes) {
    const BlockId next = blocks_[candidate].next;
    TM_CHECK(next != kNoBlock && !blocks_[next].mapped, "an expandable segment ends too early");
    if (!map_block(next, std::min(request.bytes - blocks_[candidate].bytes, blocks_[next].bytes))) return kNoBlock;
    candidate = next;  // it has swallowed the block before it
  }
  erase_free(*request.pool, candidate);
  return candidate;
}

/// find_expandable_block
BlockId CachingAllocator::find_room_to_grow(const Request& request) {
  const auto is_available = [&](BlockId id) { return id != kNoBlock && blocks_[id].is_available(); };
  for (const BlockId unmapped : request.pool->unmapped) {
    if (blocks_[unmapped].stream != request.stream) continue;
    const BlockId first = is_available(blocks_[unmapped].previous) ? blocks_[unmapped].previous : unmapped;
    std::int64_t bytes = 0;
    for (BlockId id = first; bytes < request.bytes && is_available(id); id = blocks_[id].next)
      bytes += blocks_[id].bytes;
    if (bytes >= request.bytes) return first;
  }
  return new_expandable_segment(request);
}

BlockId CachingAllocator::new_expandable_segment(const Request& request) {
  const std::int64_t piece_bytes = request.pool->small ? kSmallSegmentBytes : settings_.large_segment_bytes;
  const std::int64_t bytes = ExpandableSegment::address_bytes(driver_.total_bytes(), piece_bytes);
  const auto address = driver_.reserve_addresses(bytes);
  if (!address) return kNoBlock;
  ExpandableSegmentId segment = static_cast<ExpandableSegmentId>(expandable_.size());
  if (unused_expandable_.empty()) {
    expandable_.emplace_back(*address, bytes, piece_bytes);
  } else {
    segment = unused_expandable_.back();
    unused_expandable_.pop_back();
    expandable_[segment] = ExpandableSegment(*address, bytes, piece_bytes);
  }
  const BlockId id = blocks_.create();
  Block& block = blocks_[id];
  block.address = *address;
  block.bytes = bytes;
  block.stream = request.stream;
  block.small = request.pool->small;
  block.expandable = segment;
  block.mapped = false;
  insert_unmapped(*request.pool, id);
  return id;
}

/// Gives memory to the first `bytes` of an unmapped block and joins it to its free neighbours.
bool CachingAllocator::map_block(BlockId id, std::int64_t bytes) {
  const MappedRange range = expandable_[blocks_[id].expandable].map({blocks_[id].address, bytes}, driver_);
  if (range.bytes == 0) return false;
  Pool& pool = pool_of(blocks_[id]);
  erase_unmapped(pool, id);
  blocks_[id].mapped = true;
  if (range.bytes < blocks_[id].bytes) {
    const BlockId rest = piece_of(blocks_[id], range.address + range.bytes, blocks_[id].bytes - range.bytes, false);
    splice(rest, id, blocks_[id].next);
    insert_unmapped(pool, rest);
    blocks_[id].bytes = range.bytes;
  }
  merge(id, blocks_[id].previous, pool);
  merge(id, blocks_[id].next, pool);
  insert_free(pool, id);
  stats_.reserved_bytes.add(range.bytes);
  ++stats_.num_device_alloc;
  ++pool.driver_calls;
  emit(EventKind::segment_map, range.address, range.bytes, blocks_[id].stream);
  return true;
}

/// Takes the memory from every whole piece of a free block; what is left before and behind stays free.
void CachingAllocator::unmap_block(BlockId id) {
  const MappedRange range =
      expandable_[blocks_[id].expandable].unmap({blocks_[id].address, blocks_[id].bytes}, driver_);
  if (range.bytes == 0) return;
  if (stream_order_) stream_order_->host_waits(stream_order_->now(blocks_[id].stream));  // unmapHandles
  Pool& pool = pool_of(blocks_[id]);
  erase_free(pool, id);
  const std::int64_t before_bytes = range.address - blocks_[id].address;
  const std::int64_t after_bytes = blocks_[id].bytes - before_bytes - range.bytes;
  if (before_bytes > 0) {
    const BlockId before = piece_of(blocks_[id], blocks_[id].address, before_bytes, true);
    splice(before, blocks_[id].previous, id);
    insert_free(pool, before);
  }
  if (after_bytes > 0) {
    const BlockId behind = piece_of(blocks_[id], range.address + range.bytes, after_bytes, true);
    splice(behind, id, blocks_[id].next);
    insert_free(pool, behind);
  }
  blocks_[id].address = range.address;
  blocks_[id].bytes = range.bytes;
  blocks_[id].mapped = false;
  merge(id, blocks_[id].previous, pool);
  merge(id, blocks_[id].next, pool);
  insert_unmapped(pool, id);
  stats_.reserved_bytes.remove(range.bytes);
  ++stats_.num_device_free;
  ++pool.driver_calls;
  emit(EventKind::segment_unmap, range.address, range.bytes, blocks_[id].stream);
}

void CachingAllocator::release_expandable_segment(BlockId id) {
  const ExpandableSegmentId segment = blocks_[id].expandable;
  TM_CHECK(!blocks_[id].mapped && blocks_[id].bytes == expandable_[segment].bytes(),
           "an expandable segment in use goes back");
  driver_.free(expandable_[segment].address());
  erase_unmapped(pool_of(blocks_[id]), id);
  unused_expandable_.push_back(segment);
  blocks_.remove(id);
}

void CachingAllocator::merge(BlockId into, BlockId neighbour, Pool& pool) {
  if (!can_join(blocks_[into], neighbour)) return;
  blocks_[neighbour].mapped ? erase_free(pool, neighbour) : erase_unmapped(pool, neighbour);
  join(into, neighbour);
}

void CachingAllocator::insert_unmapped(Pool& pool, BlockId id) {
  const auto is_before = [&](BlockId a, BlockId b) {
    return std::pair(blocks_[a].stream, blocks_[a].address) < std::pair(blocks_[b].stream, blocks_[b].address);
  };
  pool.unmapped.insert(std::lower_bound(pool.unmapped.begin(), pool.unmapped.end(), id, is_before), id);
}

void CachingAllocator::erase_unmapped(Pool& pool, BlockId id) {
  TM_CHECK(std::erase(pool.unmapped, id) == 1, "an unmapped block is not in its pool");
}

/// A new block of the same segment, not yet in its chain.
BlockId CachingAllocator::piece_of(const Block& whole, std::int64_t address, std::int64_t bytes, bool mapped) {
  Block piece;
  piece.address = address;
  piece.bytes = bytes;
  piece.stream = whole.stream;
  piece.small = whole.small;
  piece.expandable = whole.expandable;
  piece.mapped = mapped;
  const BlockId id = blocks_.create();  // `whole` may have moved
  blocks_[id] = piece;
  return id;
}

void CachingAllocator::splice(BlockId id, BlockId before, BlockId after) {
  if (before != kNoBlock) blocks_[before].next = id;
  if (after != kNoBlock) blocks_[after].previous = id;
  blocks_[id].previous = before;
  blocks_[id].next = after;
}

}  // namespace tidemark
