// Recorded runs of an allocator, and running them again through any other.  The format is in docs/design/allocator.md.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "memory/caching_allocator.h"
#include "memory/timeline.h"

namespace tidemark {

/// What a program asks of an allocator.
struct Request {
  enum class Kind : std::uint8_t { alloc, free, record_stream, empty_cache };
  Kind kind = Kind::alloc;
  std::uint32_t number = 0;  // of the allocation: 0, 1, 2, … in the order of allocation, failed ones included
  std::int64_t bytes = 0;    // alloc
  StreamId stream = 0;       // alloc, record_stream
};

/// A recording of PyTorch's allocator: what it was asked, what it did, and what it knew of the card.
struct Recording {
  std::string torch, settings;
  CachingAllocatorConfig config;  // an allocator that should do the same
  std::vector<Request> requests;
  std::vector<AllocatorEvent> events;  // addresses relative to the first segment
  std::vector<std::string> messages;   // of the out-of-memory errors, in order
  Totals end;
};

/// Reads the text of a recording.  Throws Error{bad_file} with the number of the line, and what the settings' parser
/// throws.
Recording read_recording(std::string_view text);

struct ReplayResult {
  Timeline timeline;
  std::int64_t out_of_memory_count = 0;
  Totals end;
};

/// Asks `allocator` for the same; a request about an allocation that has failed is left out.  Requests must be in
/// order: numbers 0, 1, 2, …, no use after a free (read_recording guarantees it; otherwise Error{bad_value}).
ReplayResult replay(const std::vector<Request>& requests, Allocator& allocator);

}  // namespace tidemark
