// Requests and frees: the best free block, splitting, merging, waiting for streams.
#include "memory/caching_allocator.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"
#include "memory/size_classes.h"

namespace tidemark {

CachingAllocator::CachingAllocator(const CachingAllocatorConfig& config, AllocatorObserver* observer)
    : settings_(config.settings),
      rules_(config.rules),
      driver_(config.device),
      stream_work_(config.stream_work),
      stream_order_(config.stream_order),
      observer_(observer) {
  small_pool_.small = true;
  set_memory_fraction(settings_.memory_fraction);
}

void CachingAllocator::set_memory_fraction(double fraction) {
  if (!(fraction >= 0 && fraction <= 1))
    throw Error(Errc::bad_value, fmt::format("a memory fraction of {} is not within 0 and 1", fraction));
  allowed_bytes_.reset();
  if (fraction < 1) allowed_bytes_ = static_cast<std::int64_t>(fraction * static_cast<double>(driver_.total_bytes()));
}

/// DeviceCachingAllocator::malloc
AllocationId CachingAllocator::alloc(std::int64_t requested_bytes, StreamId stream) {
  if (requested_bytes <= 0 || stream >= kMaxStreams) [[unlikely]] {
    if (requested_bytes == 0) return kNoBytes;
    throw Error(Errc::bad_value, fmt::format("an allocation of {} bytes on stream {}", requested_bytes, stream));
  }
  Request request{requested_bytes, 0, 0, stream, nullptr};
  if (requested_bytes >= kTooManyBytes) [[unlikely]]
    return refuse(request);
  if (!uses_.nobody_waits()) finish_done_events();
  request.bytes = round_size(requested_bytes, settings_);
  request.pool = request.bytes <= kSmallBytes ? &small_pool_ : &large_pool_;
  if (const auto place = find_free_block(request))
    return hand_out(request, free_blocks(*request.pool, stream).at(*place).block, &*place);
  request.segment_bytes = segment_size(request.bytes, settings_);
  const BlockId found = make_room(request);
  return found == kNoBlock ? refuse(request) : hand_out(request, found, nullptr);
}

/// get_free_block: the smallest free block of the stream that is large enough, the lowest of equals.
std::optional<FreeBlocks::Position> CachingAllocator::find_free_block(const Request& request) {
  if (counts_age()) ++request.pool->searches;
  FreeBlocks& free = free_blocks(*request.pool, request.stream);
  auto found = free.lower_bound(request.bytes);
  if (found == free.end()) return std::nullopt;
  if (settings_.expandable_segments) {
    // A block counts as large as it could become, so that the end of a segment is not eaten up first.
    const auto could_become = [&](FreeBlocks::Position position) {
      const Block& block = blocks_[free.at(position).block];
      const bool grows = block.next != kNoBlock && !blocks_[block.next].mapped;
      return block.bytes + (grows ? blocks_[block.next].bytes : 0);
    };
    for (auto next = free.after(found); next != free.end() && could_become(next) < could_become(found);
         next = free.after(next))
      found = next;
  }
  const std::int64_t found_bytes = free.at(found).bytes;
  const bool oversize = request.bytes >= settings_.max_split_bytes;
  if (!oversize && found_bytes >= settings_.max_split_bytes) return std::nullopt;
  if (oversize && found_bytes >= request.bytes + settings_.max_non_split_rounding_bytes) return std::nullopt;
  return found;
}

/// The slow part of malloc: garbage collection, a new segment, and what can be given back to make room for one.
BlockId CachingAllocator::make_room(const Request& request) {
  if (counts_age()) collect_garbage();
  BlockId found = new_segment(request, false);
  if (found == kNoBlock && release_enough(request)) found = new_segment(request, false);
  if (found == kNoBlock) {
    release_cached_blocks();
    found = new_segment(request, true);
  }
  return found;
}

bool CachingAllocator::should_split(const Block& block, std::int64_t bytes) const {
  const std::int64_t remaining = block.bytes - bytes;
  if (block.small || settings_.expandable_segments) return remaining >= kMinBlockBytes;
  return bytes < settings_.max_split_bytes && remaining > kSmallBytes;
}

/// alloc_found_block.  `place`: where the block stands among the free ones, if it does.
AllocationId CachingAllocator::hand_out(const Request& request, BlockId found, const FreeBlocks::Position* place) {
  PoolStats& pool_stats = stats_of(request.pool->small);
  const bool already_split = blocks_[found].is_split(), expandable = blocks_[found].is_expandable();
  BlockId id = found;
  if (should_split(blocks_[found], request.bytes)) {
    id = blocks_.create();
    Block &block = blocks_[id], &remaining = blocks_[found];
    block.address = remaining.address;
    block.bytes = request.bytes;
    block.stream = request.stream;
    block.small = remaining.small;
    block.expandable = remaining.expandable;
    block.previous = remaining.previous;
    block.next = found;
    if (block.previous != kNoBlock) blocks_[block.previous].next = id;
    remaining.previous = id;
    remaining.address += request.bytes;
    remaining.bytes -= request.bytes;
    if (place) {
      remaining.searches_when_freed = request.pool->searches;
      free_blocks(*request.pool, request.stream).replace(*place, remaining.bytes, remaining.address, found);
    } else {
      insert_free(*request.pool, found);
    }
    for (PoolStats* stats : {&stats_.all, &pool_stats}) {
      if (expandable) break;  // PyTorch leaves them out of inactive_split
      if (already_split) {
        stats->inactive_split_bytes.remove(request.bytes);
      } else {
        stats->inactive_split_bytes.add(remaining.bytes);
        stats->inactive_split.add(1);
      }
    }
  } else {
    if (place) free_blocks(*request.pool, request.stream).erase(*place);
    for (PoolStats* stats : {&stats_.all, &pool_stats}) {
      if (!already_split || expandable) break;
      stats->inactive_split_bytes.remove(blocks_[id].bytes);
      stats->inactive_split.remove(1);
    }
  }
  Block& block = blocks_[id];
  block.allocated = true;
  block.requested_bytes = request.requested_bytes;
  emit(EventKind::alloc, block.address, block.requested_bytes, block.stream);
  for (PoolStats* stats : {&stats_.all, &pool_stats}) {
    stats->allocation.add(1);
    stats->allocated_bytes.add(block.bytes);
    stats->active.add(1);
    stats->active_bytes.add(block.bytes);
    stats->requested_bytes.add(block.requested_bytes);
  }
  if (block.bytes >= settings_.max_split_bytes) stats_.oversize_allocations.add(1);
  return id;
}

AllocationId CachingAllocator::refuse(const Request& request) {
  out_of_memory_ = OutOfMemory{request.requested_bytes,
                               request.segment_bytes,
                               driver_.total_bytes(),
                               driver_.free_bytes(),
                               driver_.process_bytes(),
                               allowed_bytes_,
                               stats_.all.allocated_bytes.current,
                               stats_.all.reserved_bytes.current};
  if (request.requested_bytes < kTooManyBytes) {
    emit(EventKind::out_of_memory, driver_.free_bytes(), request.bytes, request.stream);
    ++stats_.num_ooms;
  }
  return kOutOfMemory;
}

/// DeviceCachingAllocator::free
void CachingAllocator::free(AllocationId id) {
  if (id == kNoBytes) return;
  TM_CHECK(blocks_.knows(id) && blocks_[id].allocated, "freed what is not allocated");
  Block& block = blocks_[id];
  block.allocated = false;
  for (PoolStats* stats : {&stats_.all, &stats_of(block.small)}) {
    stats->allocation.remove(1);
    stats->allocated_bytes.remove(block.bytes);
  }
  emit(EventKind::free_requested, block.address, block.requested_bytes, block.stream);
  if (block.bytes >= settings_.max_split_bytes) stats_.oversize_allocations.remove(1);
  if (block.used_elsewhere) {
    block.used_elsewhere = false;
    block.events = uses_.start_waiting(id, stream_order_);
  } else {
    free_block(id);
  }
}

void CachingAllocator::free_block(BlockId id) {
  Block& block = blocks_[id];
  emit(EventKind::free_completed, block.address, block.requested_bytes, block.stream);
  const std::int64_t bytes = block.bytes;
  Pool& pool = pool_of(block);
  const BlockId previous = can_join(block, block.previous) ? block.previous : kNoBlock;
  const BlockId next = can_join(block, block.next) ? block.next : kNoBlock;
  std::int64_t split_blocks = 0, split_bytes = 0;  // by how much inactive_split changes
  // The larger neighbour's place among the free blocks becomes that of the whole: it seldom has to move.
  BlockId larger = previous, smaller = next;
  if (larger == kNoBlock || (smaller != kNoBlock && blocks_[smaller].bytes > blocks_[larger].bytes))
    std::swap(larger, smaller);
  if (smaller != kNoBlock) erase_free(pool, smaller);
  if (larger == kNoBlock) {
    insert_free(pool, id);
  } else {
    FreeBlocks& free = free_blocks(pool, block.stream);
    const FreeBlocks::Position place = free.find(blocks_[larger].bytes, blocks_[larger].address);
    for (const BlockId neighbour : {previous, next}) {
      if (neighbour == kNoBlock) continue;
      split_blocks -= 1;
      split_bytes -= join(id, neighbour);
    }
    block.searches_when_freed = pool.searches;
    free.replace(place, block.bytes, block.address, id);
  }
  if (block.is_split()) {
    split_blocks += 1;
    split_bytes += block.bytes;
  }
  for (PoolStats* stats : {&stats_.all, &stats_of(block.small)}) {
    if (!block.is_expandable()) {
      split_blocks > 0 ? stats->inactive_split.add(split_blocks) : stats->inactive_split.remove(-split_blocks);
      split_bytes > 0 ? stats->inactive_split_bytes.add(split_bytes) : stats->inactive_split_bytes.remove(-split_bytes);
    }
    stats->active.remove(1);
    stats->active_bytes.remove(bytes);
    stats->requested_bytes.remove(block.requested_bytes);
  }
}

/// Of try_merge_blocks: not if the neighbour is in use or not of the block's kind.
bool CachingAllocator::can_join(const Block& block, BlockId neighbour) const {
  return neighbour != kNoBlock && blocks_[neighbour].is_available() && block.mapped == blocks_[neighbour].mapped;
}

/// try_merge_blocks, but for the pool's lists: the bytes that `into` gained.
std::int64_t CachingAllocator::join(BlockId into, BlockId neighbour) {
  Block &block = blocks_[into], &other = blocks_[neighbour];
  if (block.previous == neighbour) {
    block.address = other.address;
    block.previous = other.previous;
    if (block.previous != kNoBlock) blocks_[block.previous].next = into;
  } else {
    block.next = other.next;
    if (block.next != kNoBlock) blocks_[block.next].previous = into;
  }
  const std::int64_t gained = other.bytes;
  block.bytes += gained;
  blocks_.remove(neighbour);
  return gained;
}

/// synchronize_and_free_events
void CachingAllocator::finish_events() {
  uses_.finish_all(stream_order_, [this](BlockId id) {
    if (--blocks_[id].events == 0) free_block(id);
  });
}

/// process_events
void CachingAllocator::finish_done_events() {
  if (stream_work_ == StreamWork::finished) return finish_events();
  if (!stream_order_) return;
  uses_.finish_done(*stream_order_, [this](BlockId id) {
    if (--blocks_[id].events == 0) free_block(id);
  });
}

void CachingAllocator::record_stream(AllocationId id, StreamId stream) {
  if (id == kNoBytes) return;
  TM_CHECK(blocks_.knows(id) && blocks_[id].allocated, "record_stream on what is not allocated");
  if (stream >= kMaxStreams) throw Error(Errc::bad_value, fmt::format("stream {} of at most {}", stream, kMaxStreams));
  if (stream == blocks_[id].stream) return;
  uses_.note(id, stream);
  blocks_[id].used_elsewhere = true;
}

void CachingAllocator::empty_cache() { release_cached_blocks(); }

void CachingAllocator::insert_free(Pool& pool, BlockId id) {
  Block& block = blocks_[id];
  block.searches_when_freed = pool.searches;
  free_blocks(pool, block.stream).insert(block.bytes, block.address, id);
}

void CachingAllocator::erase_free(Pool& pool, BlockId id) {
  FreeBlocks& free = free_blocks(pool, blocks_[id].stream);
  free.erase(free.find(blocks_[id].bytes, blocks_[id].address));
}

}  // namespace tidemark
