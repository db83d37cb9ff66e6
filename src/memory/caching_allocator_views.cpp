// What can be asked of the allocator: totals, statistics, its blocks, the last failure.
#include <algorithm>

#include "memory/caching_allocator.h"

namespace tidemark {

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::alloc: return "alloc";
    case EventKind::free_requested: return "free_requested";
    case EventKind::free_completed: return "free_completed";
    case EventKind::segment_alloc: return "segment_alloc";
    case EventKind::segment_free: return "segment_free";
    case EventKind::segment_map: return "segment_map";
    case EventKind::segment_unmap: return "segment_unmap";
    case EventKind::out_of_memory: return "oom";
  }
  return "unknown";
}

std::vector<CachingAllocator::BlockView> CachingAllocator::snapshot() const {
  std::vector<BlockView> views;
  for (BlockId id = 0; blocks_.knows(id); ++id) {
    const Block& block = blocks_[id];
    if (block.bytes == 0 || !block.mapped) continue;
    const bool starts = block.previous == kNoBlock || !blocks_[block.previous].mapped;
    views.push_back({block.address, block.bytes, block.requested_bytes, block.allocated, !block.is_available(), starts,
                     block.small, block.stream});
  }
  std::sort(views.begin(), views.end(), [](const BlockView& a, const BlockView& b) { return a.address < b.address; });
  return views;
}

std::string CachingAllocator::out_of_memory_message() const {
  if (!out_of_memory_) return {};
  return tidemark::out_of_memory_message(*out_of_memory_,
                                         settings_.expandable_segments ? rules_.advice_when_expandable : rules_.advice);
}

}  // namespace tidemark
