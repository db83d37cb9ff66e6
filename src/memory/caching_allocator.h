// PyTorch's caching allocator, byte for byte: c10/cuda/CUDACachingAllocator.cpp, DeviceCachingAllocator (torch 2.11.0
// and 2.6.0). docs/design/allocator.md tells how it works and what has been compared with the real one.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "memory/allocator.h"
#include "memory/allocator_rules.h"
#include "memory/allocator_settings.h"
#include "memory/allocator_stats.h"
#include "memory/block.h"
#include "memory/driver_memory.h"
#include "memory/expandable_segment.h"
#include "memory/free_blocks.h"
#include "memory/out_of_memory.h"
#include "memory/stream_events.h"

namespace tidemark {

struct CachingAllocatorConfig {
  AllocatorSettings settings;
  AllocatorRules rules = allocator_rules();
  DriverMemoryConfig device;
  StreamWork stream_work = StreamWork::finished;
  StreamOrder* stream_order = nullptr;  // of unfinished work; must outlive the allocator; none: the host never waits
};

/// The default pools of one device.  Settings hold for its whole life; private pools (CUDA graphs, torch.cuda.MemPool)
/// are not modelled. Not thread-safe, and it shares nothing: any number of them may live in any number of threads.
class CachingAllocator final : public Allocator {
 public:
  /// `observer`, if any, is told of every event and must outlive the allocator.
  explicit CachingAllocator(const CachingAllocatorConfig& config = {}, AllocatorObserver* observer = nullptr);

  /// Throws Error{bad_value} for a negative size or a stream of kMaxStreams or more.
  AllocationId alloc(std::int64_t requested_bytes, StreamId stream = 0) override;
  void free(AllocationId id) override;
  void record_stream(AllocationId id, StreamId stream) override;
  void empty_cache() override;
  Totals totals() const override {
    return {stats_.allocated_bytes.current, stats_.reserved_bytes.current, stats_.active_bytes.current};
  }

  /// What others than PyTorch take of the device from now on.
  void take_from_device(std::int64_t bytes) { driver_.take(bytes); }

  /// torch.cuda.set_per_process_memory_fraction; Throws Error{bad_value} outside 0…1.
  void set_memory_fraction(double fraction);

  /// Of a live allocation.
  std::int64_t address(AllocationId id) const { return block_of(id).address; }
  std::int64_t block_bytes(AllocationId id) const { return block_of(id).bytes; }
  const AllocatorStats& stats() const { return stats_; }
  /// How often the driver has given the large pool memory, or taken it back.
  std::int64_t large_pool_driver_calls() const { return large_pool_.driver_calls; }
  /// What was known when alloc() last returned kOutOfMemory.
  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }
  std::string out_of_memory_message() const;

  /// One block as torch.cuda.memory_snapshot() shows it; segments in order of address.
  struct BlockView {
    std::int64_t address, bytes, requested_bytes;
    bool allocated, active, starts_segment, small;
    StreamId stream;
    bool operator==(const BlockView&) const = default;
  };
  std::vector<BlockView> snapshot() const;

 private:
  struct Pool {
    bool small = false;
    std::vector<FreeBlocks> by_stream;
    std::vector<BlockId> unmapped;  // by stream, then address
    std::int64_t searches = 0;      // get_free_blocks_call_count
    std::int64_t driver_calls = 0;  // that gave it memory or took memory from it
  };
  struct Request {
    std::int64_t requested_bytes, bytes, segment_bytes;
    StreamId stream;
    Pool* pool;
  };

  const Block& block_of(AllocationId id) const {
    TM_CHECK(blocks_.knows(id) && blocks_[id].allocated, "not a live allocation");
    return blocks_[id];
  }

  // caching_allocator.cpp
  FreeBlocks::Position find_free_block(const Request& request, const FreeBlocks& free);
  static AllocationId alloc_nothing(std::int64_t requested_bytes, StreamId stream);
  FreeBlocks::Position least_that_could_grow(FreeBlocks::Position found, const FreeBlocks& free) const;
  AllocationId alloc_in_new_segment(Request& request);
  BlockId make_room(const Request& request);
  bool should_split(const Block& block, std::int64_t bytes) const;
  BlockId split(BlockId whole, std::int64_t bytes);
  AllocationId hand_out(const Request& request, BlockId id);
  AllocationId refuse(const Request& request);
  void free_block(BlockId id);
  bool can_join(const Block& block, BlockId neighbour) const;
  void join(BlockId into, BlockId neighbour);
  void finish_events();
  void finish_done_events();
  void insert_free(Pool& pool, BlockId id);
  void erase_free(Pool& pool, BlockId id);
  static FreeBlocks& free_blocks(Pool& pool, StreamId stream) {
    if (stream >= pool.by_stream.size()) [[unlikely]]
      pool.by_stream.resize(stream + 1);
    return pool.by_stream[stream];
  }
  FreeBlocks::Entry entry_of(BlockId id) const {
    const Block& block = blocks_[id];
    return {block.bytes, block.address, id, block.age};
  }
  Pool& pool_of(const Block& block) { return block.small ? small_pool_ : large_pool_; }
  bool counts_age() const { return allowed_bytes_.has_value() && settings_.garbage_collection_threshold > 0; }
  void emit(EventKind kind, std::int64_t address, std::int64_t bytes, StreamId stream) {
    if (observer_) observer_->on_event({kind, address, bytes, stream, totals()});
  }

  // caching_allocator_segments.cpp
  BlockId new_segment(const Request& request, bool is_retry);
  void collect_garbage();
  bool release_enough(const Request& request);
  void release_cached_blocks();
  void release_blocks(Pool& pool);
  void release_block(BlockId id);

  // caching_allocator_expandable.cpp
  BlockId grow_expandable(const Request& request);
  BlockId find_room_to_grow(const Request& request);
  BlockId new_expandable_segment(const Request& request);
  bool map_block(BlockId id, std::int64_t bytes);
  void unmap_block(BlockId id);
  void release_expandable_segment(BlockId id);
  void merge(BlockId into, BlockId neighbour, Pool& pool);
  void insert_unmapped(Pool& pool, BlockId id);
  void erase_unmapped(Pool& pool, BlockId id);
  BlockId piece_of(const Block& whole, std::int64_t address, std::int64_t bytes, bool mapped);
  void splice(BlockId id, BlockId before, BlockId after);

  const AllocatorSettings settings_;
  const AllocatorRules rules_;
  DriverMemory driver_;
  const StreamWork stream_work_;
  StreamOrder* const stream_order_;
  AllocatorObserver* const observer_;
  std::optional<std::int64_t> allowed_bytes_;  // allowed_memory_maximum
  Blocks blocks_;
  std::uint32_t last_age_ = 0;
  Pool small_pool_, large_pool_;
  StreamUses uses_;
  AllocatorStats stats_;
  std::vector<ExpandableSegment> expandable_;
  std::vector<ExpandableSegmentId> unused_expandable_;
  std::vector<BlockId> scratch_;  // blocks that a pass over a pool has chosen
  std::vector<BlockId> to_unmap_;
  std::optional<OutOfMemory> out_of_memory_;
};

/// Of try_merge_blocks: not if the neighbour is in use or not of the block's kind.
inline bool CachingAllocator::can_join(const Block& block, BlockId neighbour) const {
  return neighbour != kNoBlock && blocks_[neighbour].is_available() && block.mapped == blocks_[neighbour].mapped;
}

/// try_merge_blocks, but for the pool's lists.
inline void CachingAllocator::join(BlockId into, BlockId neighbour) {
  Block &block = blocks_[into], &other = blocks_[neighbour];
  if (block.previous == neighbour) {
    block.address = other.address;
    block.previous = other.previous;
    if (block.previous != kNoBlock) blocks_[block.previous].next = into;
  } else {
    block.next = other.next;
    if (block.next != kNoBlock) blocks_[block.next].previous = into;
  }
  block.bytes += other.bytes;
  blocks_.remove(neighbour);
}

}  // namespace tidemark
