// Recordings of steps in which a block that several streams used is free again only when the program has waited for
// them: predicted, the same requests, and each such block is free again in front of the same allocation.
// tools/trace/record_steps.py --late makes the recordings.
#include <utility>

#include "../programs_at_hand.h"
#include "../recorded_step.h"

namespace tidemark {
namespace {

const Recordings& recordings() {
  static const Recordings all(recordings_folder(TIDEMARK_RECORDINGS));
  return all;
}

/// As the allocator rounds what is asked for.  c10/core/AllocatorConfig.h: kMinBlockSize
std::int64_t rounded(std::int64_t bytes) { return (bytes + 511) / 512 * 512; }

/// What happened since the allocation before, in no order, and then an allocation.
struct Allocation {
  std::vector<std::int64_t> freed, returned;
  std::int64_t bytes = 0;
  bool operator==(const Allocation&) const = default;
  std::string told() const {
    return fmt::format("freed [{}], free again [{}], then +{}", fmt::join(freed, " "), fmt::join(returned, " "), bytes);
  }
};

class Allocations {
 public:
  void allocated(std::int64_t bytes) {
    std::sort(next_.freed.begin(), next_.freed.end());
    std::sort(next_.returned.begin(), next_.returned.end());
    next_.bytes = rounded(bytes);
    list.push_back(std::exchange(next_, {}));
  }
  void freed(std::int64_t bytes) { next_.freed.push_back(rounded(bytes)); }
  void returned(std::int64_t bytes) { next_.returned.push_back(rounded(bytes)); }

  std::vector<Allocation> list;

 private:
  Allocation next_;
};

Allocations read(std::istream& lines) {
  Allocations recorded;
  for (std::string line; std::getline(lines, line);) {
    const std::int64_t bytes = std::stoll(line.substr(1));
    if (line[0] == '+') recorded.allocated(bytes);
    if (line[0] == '-') recorded.freed(bytes);
    if (line[0] == '=') recorded.returned(bytes);
  }
  return recorded;
}

/// Of a block that did not wait, what follows its free is no event of its own.
struct Log : AllocatorObserver {
  void on_event(const AllocatorEvent& event) override {
    if (event.kind == EventKind::alloc) events.allocated(event.bytes);
    if (event.kind == EventKind::free_requested) events.freed(event.bytes);
    const bool waited = last.kind != EventKind::free_requested || last.address != event.address;
    if (event.kind == EventKind::free_completed && waited) events.returned(event.bytes);
    last = event;
  }
  Allocations events;
  AllocatorEvent last;
};

class LateStep : public testing::TestWithParam<RecordedCase> {};

TEST_P(LateStep, HasItsMemoryBackWhenTheProgramWaited) {
  RecordedStepText recorded = read_recorded_step(recordings(), GetParam());
  const std::vector<Allocation> expected = read(recorded.lines).list;
  const Spec spec = spec_of(recorded.header);
  Log log;
  predict_at_hand(spec, spec.model, card_of(recorded.header), {.on_event = {}, .interval = false, .late = &log});
  expect_same(expected, log.events.list);
}

TEST(LateSteps, HaveMemoryThatWaits) {
  for (const RecordedCase& one : recordings().cases()) {
    RecordedStepText recorded = read_recorded_step(recordings(), one);
    const std::vector<Allocation> list = read(recorded.lines).list;
    EXPECT_TRUE(std::ranges::any_of(list, [](const Allocation& each) { return !each.returned.empty(); })) << one.told();
  }
}

INSTANTIATE_TEST_SUITE_P(All, LateStep, testing::ValuesIn(recordings().cases()),
                         [](const auto& recorded) { return recorded.param.told(); });

}  // namespace
}  // namespace tidemark
