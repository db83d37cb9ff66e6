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

// What every request comes by is made inline.

/// get_free_block: the smallest free block of the stream that is large enough.
inline FreeBlocks::Position CachingAllocator::find_free_block(const Request& request, const FreeBlocks& free) {
  if (counts_age()) ++request.pool->searches;
  FreeBlocks::Position found = free.lower_bound(request.bytes);
  if (found == free.end()) return found;
  if (settings_.expandable_segments) found = least_that_could_grow(found, free);
  const std::int64_t found_bytes = free.at(found).bytes;
  const bool oversize = request.bytes >= settings_.max_split_bytes;
  if (!oversize && found_bytes >= settings_.max_split_bytes) return free.end();
  if (oversize && found_bytes >= request.bytes + settings_.max_non_split_rounding_bytes) return free.end();
  return found;
}

inline bool CachingAllocator::should_split(const Block& block, std::int64_t bytes) const {
  const std::int64_t remaining = block.bytes - bytes;
  if (block.small || settings_.expandable_segments) return remaining >= kMinBlockBytes;
  return bytes < settings_.max_split_bytes && remaining > kSmallBytes;
}

/// Of alloc_found_block: a new block at the front of one, which becomes the rest.
inline BlockId CachingAllocator::split(BlockId whole, std::int64_t bytes) {
  const BlockId id = blocks_.create();
  Block &front = blocks_[id], &rest = blocks_[whole];
  front.address = rest.address;
  front.bytes = bytes;
  front.stream = rest.stream;
  front.small = rest.small;
  front.expandable = rest.expandable;
  front.age = rules_.equal_blocks == EqualBlocks::first_made ? ++last_age_ : rest.age;
  front.previous = rest.previous;
  front.next = whole;
  if (front.previous != kNoBlock) blocks_[front.previous].next = id;
  rest.previous = id;
  rest.address += bytes;
  rest.bytes -= bytes;
  return id;
}

/// The rest of alloc_found_block, of a block that is not among the free ones any more.
inline AllocationId CachingAllocator::hand_out(const Request& request, BlockId id) {
  Block& block = blocks_[id];
  block.allocated = true;
  block.requested_bytes = request.requested_bytes;
  emit(EventKind::alloc, block.address, block.requested_bytes, block.stream);
  stats_.allocated_bytes.add(block.bytes);
  stats_.active_bytes.add(block.bytes);
  return id;
}

/// DeviceCachingAllocator::malloc
AllocationId CachingAllocator::alloc(std::int64_t requested_bytes, StreamId stream) {
  if (requested_bytes <= 0 || stream >= kMaxStreams) [[unlikely]]
    return alloc_nothing(requested_bytes, stream);
  Request request{requested_bytes, 0, 0, stream, nullptr};
  if (requested_bytes >= kTooManyBytes) [[unlikely]]
    return refuse(request);
  if (!uses_.nobody_waits()) finish_done_events();
  request.bytes = round_size(requested_bytes, settings_);
  request.pool = request.bytes <= kSmallBytes ? &small_pool_ : &large_pool_;
  FreeBlocks& free = free_blocks(*request.pool, stream);
  const FreeBlocks::Position place = find_free_block(request, free);
  if (place == free.end()) [[unlikely]]
    return alloc_in_new_segment(request);
  const BlockId found = free.at(place).block;
  if (!should_split(blocks_[found], request.bytes)) {
    free.erase(place);
    return hand_out(request, found);
  }
  const BlockId front = split(found, request.bytes);
  Block& rest = blocks_[found];
  rest.searches_when_freed = request.pool->searches;
  free.replace(place, entry_of(found));
  return hand_out(request, front);
}

AllocationId CachingAllocator::alloc_nothing(std::int64_t requested_bytes, StreamId stream) {
  if (requested_bytes == 0) return kNoBytes;
  throw Error(Errc::bad_value, fmt::format("an allocation of {} bytes on stream {}", requested_bytes, stream));
}

/// A block counts as large as it could become, so that the end of an expandable segment is not eaten up first.
FreeBlocks::Position CachingAllocator::least_that_could_grow(FreeBlocks::Position found, const FreeBlocks& free) const {
  const auto could_become = [&](FreeBlocks::Position position) {
    const Block& block = blocks_[free.at(position).block];
    const bool grows = block.next != kNoBlock && !blocks_[block.next].mapped;
    return block.bytes + (grows ? blocks_[block.next].bytes : 0);
  };
  for (auto next = free.after(found); next != free.end() && could_become(next) < could_become(found);
       next = free.after(next))
    found = next;
  return found;
}

/// The slow part of malloc.
AllocationId CachingAllocator::alloc_in_new_segment(Request& request) {
  request.segment_bytes = segment_size(request.bytes, settings_);
  const BlockId whole = make_room(request);
  if (whole == kNoBlock) return refuse(request);
  if (!should_split(blocks_[whole], request.bytes)) return hand_out(request, whole);
  const BlockId front = split(whole, request.bytes);
  insert_free(*request.pool, whole);
  return hand_out(request, front);
}

/// Garbage collection, a new segment, and what can be given back to make room for one.
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

AllocationId CachingAllocator::refuse(const Request& request) {
  out_of_memory_ = OutOfMemory{request.requested_bytes,        request.segment_bytes,        driver_.total_bytes(),
                               driver_.free_bytes(),           driver_.process_bytes(),      allowed_bytes_,
                               stats_.allocated_bytes.current, stats_.reserved_bytes.current};
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
  stats_.allocated_bytes.remove(block.bytes);
  emit(EventKind::free_requested, block.address, block.requested_bytes, block.stream);
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
  stats_.active_bytes.remove(block.bytes);
  Pool& pool = pool_of(block);
  FreeBlocks& free = free_blocks(pool, block.stream);
  block.searches_when_freed = pool.searches;
  // The larger neighbour's place among the free blocks becomes that of the whole: it seldom has to move.
  BlockId larger = can_join(block, block.previous) ? block.previous : kNoBlock;
  BlockId smaller = can_join(block, block.next) ? block.next : kNoBlock;
  if (larger == kNoBlock || (smaller != kNoBlock && blocks_[smaller].bytes > blocks_[larger].bytes))
    std::swap(larger, smaller);
  if (larger == kNoBlock) return free.insert(entry_of(id));
  if (smaller != kNoBlock) {
    free.erase(free.find(entry_of(smaller)));
    join(id, smaller);
  }
  const FreeBlocks::Position place = free.find(entry_of(larger));
  join(id, larger);
  free.replace(place, entry_of(id));
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
  free_blocks(pool, block.stream).insert(entry_of(id));
}

void CachingAllocator::erase_free(Pool& pool, BlockId id) {
  FreeBlocks& free = free_blocks(pool, blocks_[id].stream);
  free.erase(free.find(entry_of(id)));
}

}  // namespace tidemark
