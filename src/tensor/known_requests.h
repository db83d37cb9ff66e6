// Requests that are made over and over.
#pragma once
#include <algorithm>

#include "tensor/run.h"

namespace tidemark {

/// Requests in stretches of a few kinds, one after the other, each of which leaves nothing behind.  While none goes to
/// the driver the allocator stands where it stood, so it would answer a kind that it knows as before: it is not asked.
template <class Kind>
class KnownRequests {
 public:
  explicit KnownRequests(Run& run)
      : run_(run), ages_count_(run.config().allocator.settings.garbage_collection_threshold > 0) {}

  /// Those of one kind, which `requests()` makes where they are not known.
  template <class Requests>
  void make(const Kind& kind, Requests&& requests) {
    const auto known =
        std::find_if(known_.begin(), known_.end(), [&](const Stretch& stretch) { return stretch.kind == kind; });
    if (known != known_.end()) return run_.repetition.repeat_answers(known->begin, known->end);
    const DriverState before = driver_state(run_.allocator());
    const std::size_t begin = run_.history().size(), calls = run_.stream_calls.all().size();
    requests();
    TM_CHECK(calls == run_.stream_calls.all().size(), "requests that are known call no streams");
    if (driver_state(run_.allocator()) != before)
      known_.clear();
    else if (!ages_count_)
      known_.push_back({kind, begin, run_.history().size()});
  }

 private:
  struct Stretch {
    Kind kind;
    std::size_t begin, end;
  };
  Run& run_;
  const bool ages_count_;  // how often the allocator was asked decides what it collects
  std::vector<Stretch> known_;
};

}  // namespace tidemark
