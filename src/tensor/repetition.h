// Stretches of a run's events that are put to the allocator once more, without making tensors.
// train/step.cpp, Note [Steps that repeat]
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "memory/allocator.h"
#include "tensor/tensor.h"

namespace tidemark {

class CachingAllocator;
struct LedgerEntry;

/// How often the driver was called, and what it has given: while that stays, the allocator answers by its blocks.
using DriverState = std::pair<std::int64_t, std::int64_t>;
DriverState driver_state(const CachingAllocator& allocator);

/// A repetition is not what the program would have done: the answer is to be found without repeating.
struct NotRepeatable {};

/// What of a run's history may be repeated, and the repeating of it.  Events are numbered as in Run::history().
class Repetition {
 public:
  /// An allocation as the allocator and the ledger know it.
  struct Twin {
    AllocationId id = kNoBytes;
    std::uint32_t entry = 0;
  };

  explicit Repetition(Run& run) : run_(run) {}

  /// Whether the events from `begin` on, up to now, can be repeated: they freed all that they allocated, and nothing
  /// else, but that a tensor may have taken the place of one of its kind that was made from `before` to `begin`.
  bool is_closed(std::size_t before, std::size_t begin);
  /// Whether there is such a tensor among the events last asked about.
  bool has_heirs() const { return !heirs_.empty(); }
  /// Lets go of `last`, which the step before has left in `place`, where this step's is now, and of what only that
  /// keeps: a loss keeps its graph.  The first step has none.
  void let_go(Tensor last, Tensor& place);
  /// Whether the events from `begin` on, those of the first step, can be repeated as those of the second: they freed
  /// nothing older, and left behind what is made Once, and what the next step lets go of.  That all of it goes then is
  /// seen then.
  bool is_closed_first(std::size_t begin);

  /// Of the large pool it is known what it answers: those requests are not made.
  struct LargeAnswers {
    bool into_history = true;
    bool are_known = true;
    std::int64_t bytes = 0;  // more than the allocator knows to be allocated
  };

  /// Puts the requests of events `begin` to `end` to the allocator once more, without making tensors.  A closed stretch
  /// may be repeated in parts, in order, with the same `large`, if any.  Throws DeviceOutOfMemory, NotRepeatable.
  void repeat(std::size_t begin, std::size_t end, LargeAnswers* large = nullptr);
  /// The same where the allocator is known to answer as it did: it is not asked.  Not where tensors take a place.
  void repeat_answers(std::size_t begin, std::size_t end);
  /// Likewise, but the events do not come into the history: nothing rises higher than it did.
  void pass_over(std::size_t begin, std::size_t end);
  /// Puts requests to the allocator that were made before: `made` in order, where an event is as in history(), by their
  /// numbers.  The modules are those of the entries from `like` on.  Returns what is not freed again, by number.
  std::vector<Ref<Storage>> repeat_for(const std::vector<LedgerEntry>& made, const std::vector<std::int32_t>& events,
                                       std::uint32_t like);

  /// What an entry of the ledger has become by repetitions: itself, without any.
  Twin twin_of(std::uint32_t entry) const;

 private:
  /// Of a tensor that a repeated stretch frees in place of one from before it.
  struct Heir {
    std::uint32_t of = 0, entry = 0;
    Twin last = {};  // which has its place when the next repetition begins
  };
  /// Of what the first step leaves in `place`: behind how many events the second lets go of it.
  struct Legacy {
    std::size_t at = 0;
    Tensor* place = nullptr;
  };
  /// Events from the first to behind the last.
  struct Stretch {
    std::size_t begin = 0, end = 0;
  };
  /// That the allocator was not asked for, because it would have answered as it did from event `source` on.
  struct Answered : Stretch {
    std::size_t source = 0;
  };
  /// What a step asks for that is repeated, and then answers by.
  struct Source {
    std::size_t at = 0, repeated_at = 0;
    DriverState driver = {};
  };

  friend class Once;
  /// Throws NotRepeatable; the run is over, since what was only taken as known cannot be freed as tensors die.
  [[noreturn]] void give_up();
  void succeed();
  Twin heir_of(std::uint32_t entry) const;
  void repeat_allocation(std::uint32_t entry, LargeAnswers& large);
  void repeat_free(std::uint32_t entry, LargeAnswers& large);
  std::size_t next_call_position(std::size_t call) const;
  std::size_t repeat_calls_at(std::size_t event, std::size_t call);
  std::vector<Source> sources_within(std::size_t begin, std::size_t end) const;
  bool repeat_answered(const Answered& answered, const std::vector<Source>& sources, bool into_history);
  void hand_over_at(std::size_t event);
  void hand_over(Tensor& place);
  void let_go_again(Tensor& place);
  Ref<Storage> memory_of(const Twin& twin);

  Run& run_;
  std::vector<Twin> twins_;  // by entry of the ledger: the last that repeated it
  std::vector<Heir> heirs_;
  std::uint32_t stretch_ = 0;        // where the events begin that are repeated
  std::uint32_t first_entry_ = 0;    // what is older was not made in them
  std::vector<Legacy> legacies_;     // in that order, until the second step has them
  std::vector<Stretch> once_;        // not repeated
  std::vector<Answered> answered_;   // in order
  std::vector<std::uint32_t> left_;  // by the first step, until the second has let go of it
};

/// In whose scope a program makes what it finds there when it comes by again: workspaces, an optimizer's state.  What
/// follows asks for the same memory either time.
class Once {
 public:
  explicit Once(Run& run);
  ~Once();
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

 private:
  Run& run_;
  const std::size_t begin_;
};

}  // namespace tidemark
