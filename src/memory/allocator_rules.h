// What changed in PyTorch's caching allocator between releases, in one place.
#pragma once
#include <string>
#include <string_view>

namespace tidemark {

struct AllocatorRules {
  std::string torch;  // "2.11"
  /// max_split_size_mb and max_non_split_rounding_mb: more than 20 MiB, or at least the large segment's size.
  bool split_limit_excludes_large_segment = false;
  /// roundup_power2_divisions:[…,>:N] replaces the last interval's value, too.
  bool rest_replaces_last_interval = false;
  /// large_segment_size_mb, per_process_memory_fraction and others that came after 2.6.
  bool has_newer_settings = true;
  std::string_view documentation;  // the address that the out-of-memory message ends with
};

/// For "2.11.0", "2.6.0+cu124" and the like.  Throws Error{unsupported} for a release that has not been compared with
/// the real one.
AllocatorRules allocator_rules(std::string_view torch_version = "2.11.0");

}  // namespace tidemark
