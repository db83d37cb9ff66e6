// What changed in PyTorch's caching allocator between releases, in one place.
#pragma once
#include <span>
#include <string_view>

namespace tidemark {

/// Which of free blocks of one size is taken.  torch: c10/cuda/CUDACachingAllocator.cpp
enum class EqualBlocks {
  lowest,        // at the lowest address (2.11.0: BlockComparatorSize)
  first_made,    // that was made first, by a segment's beginning or a split (2.12.1:
                 // BlockComparatorRegistrationCounter)
  first_segment  // of the segment that was made first, and the lowest there (2.13.0: BlockComparatorSizeCounterAddress)
};

struct AllocatorRules {
  std::string_view torch;  // "2.15"
  /// max_split_size_mb and max_non_split_rounding_mb: more than 20 MiB, or at least the large segment's size.
  bool split_limit_excludes_large_segment = false;
  /// roundup_power2_divisions:[…,>:N] replaces the last interval's value, too.
  bool rest_replaces_last_interval = false;
  /// large_segment_size_mb, per_process_memory_fraction, which came after 2.6.
  bool has_newer_settings = true;
  EqualBlocks equal_blocks = EqualBlocks::lowest;
  /// throw_on_cudamalloc_oom.  c10/cuda/CUDAAllocatorConfig.h (2.12.1)
  bool has_early_refusal = false;
  /// Names of settings that move no device memory.
  std::span<const std::string_view> settings_without_effect;
  /// What the out-of-memory message advises at its end, and where it is another, with expandable segments: none
  /// (2.14.1), then another one (2.15.0).
  std::string_view advice, advice_when_expandable = advice;
};

/// Those of the release that a version belongs to ("2.14.1", "2.6.0+cu124"); of one that is newer than all that have
/// been compared with the real one, the newest one's.  Throws Error{unsupported} for an older one that has not been.
const AllocatorRules& allocator_rules(std::string_view torch_version);

/// Those of the release that the recordings in this repository are of.
const AllocatorRules& allocator_rules();

}  // namespace tidemark
