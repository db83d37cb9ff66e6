// The least that any allocator needs: no segments, no fragmentation, nothing kept.  It stands beside the caching
// allocator and shows how much of a peak is the allocator's doing.
#pragma once
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "memory/allocator.h"
#include "memory/size_classes.h"

namespace tidemark {

/// All three totals are the live requests, each rounded up to 512 bytes; it never runs out of memory.
class LowerBound final : public Allocator {
 public:
  AllocationId alloc(std::int64_t requested_bytes, StreamId) override {
    if (requested_bytes == 0) return kNoBytes;
    TM_CHECK(requested_bytes > 0 && requested_bytes < kTooManyBytes, "not a size");
    const std::int64_t bytes = (requested_bytes + kMinBlockBytes - 1) / kMinBlockBytes * kMinBlockBytes;
    live_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    if (unused_.empty()) {
      bytes_of_.push_back(bytes);
      return static_cast<AllocationId>(bytes_of_.size() - 1);
    }
    const AllocationId id = unused_.back();
    unused_.pop_back();
    bytes_of_[id] = bytes;
    return id;
  }

  void free(AllocationId id) override {
    if (id == kNoBytes) return;
    TM_CHECK(id < bytes_of_.size() && bytes_of_[id] > 0, "freed what is not allocated");
    live_bytes_ -= bytes_of_[id];
    bytes_of_[id] = 0;
    unused_.push_back(id);
  }

  void record_stream(AllocationId, StreamId) override {}
  void empty_cache() override {}
  Totals totals() const override { return {live_bytes_, live_bytes_, live_bytes_}; }

  /// Every allocator's peak of allocated bytes is at least this, and so is its peak of reserved bytes.
  std::int64_t peak_bytes() const { return peak_bytes_; }

 private:
  std::int64_t live_bytes_ = 0, peak_bytes_ = 0;
  std::vector<std::int64_t> bytes_of_;
  std::vector<AllocationId> unused_;
};

}  // namespace tidemark
