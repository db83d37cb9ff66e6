// Every recording of a real training step, predicted: the same allocations in the same order, and between two of them
// the same frees.  tools/trace/record_steps.py makes the recordings.
#include "../recorded_step.h"
#include "base/error.h"
#include "estimate/predict.h"
#include "estimate/verdict.h"
#include "io/report_json.h"

namespace tidemark {
namespace {

std::vector<std::string> recordings() { return recordings_in(recordings_folder()); }

/// An allocation, and what was freed since the one before: in Python and C++ the order of such frees is no one's.
struct Allocation {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> freed;
  std::string text;  // with operation and module, where they are known
  bool operator==(const Allocation& other) const { return bytes == other.bytes && freed == other.freed; }
  std::string told() const { return fmt::format("freed [{}], then {}", fmt::join(freed, " "), text); }
};

class Allocations {
 public:
  void add(std::string_view line) {
    const std::int64_t bytes = std::stoll(std::string(line.substr(0, line.find(' '))));
    if (bytes < 0) return freed_.push_back(bytes);
    std::sort(freed_.begin(), freed_.end());
    list.push_back({bytes, std::move(freed_), std::string(line)});
    freed_.clear();
  }
  std::vector<Allocation> list;

 private:
  std::vector<std::int64_t> freed_;
};

struct Recorded {
  Value header;
  Allocations events;
};

Recorded read(const std::string& name) {
  RecordedStepText text = read_recorded_step(name);
  Recorded recorded{std::move(text.header), {}};
  for (std::string line; std::getline(text.lines, line);) recorded.events.add(line);
  return recorded;
}

Allocations predicted(const Value& header) {
  const Spec spec = spec_of(header);
  Allocations events;
  predict(spec, spec.model, card_of(header), {.on_event = [&](std::string_view line) { events.add(line); }});
  return events;
}

class RecordedStep : public testing::TestWithParam<std::string> {};

TEST_P(RecordedStep, IsPredictedAllocationByAllocation) {
  const Recorded recorded = read(GetParam());
  expect_same(recorded.events.list, predicted(recorded.header).list);
}

TEST_P(RecordedStep, IsReportedTheSameWhenStepsAreRepeated) {
  const Value header = read(GetParam()).header;
  Spec spec = spec_of(header);
  spec.steps = 5;
  const Card card = card_of(header);
  Card too_small = card;
  const auto predicted_on = [&](const Card& on, bool repeat, bool interval) {
    return predict(spec, spec.model, on, {.on_event = {}, .interval = interval, .repeat_steps = repeat});
  };
  const auto expect_same_on = [&](const Card& on) {
    Report simulated = predicted_on(on, false, true);
    EXPECT_EQ(io::write_report(predicted_on(on, true, true)), io::write_report(simulated));
    simulated.interval.reset();  // without it, what is known does not come into the history
    judge(simulated);
    EXPECT_EQ(io::write_report(predicted_on(on, true, false)), io::write_report(simulated));
    return simulated;
  };
  const Report report = expect_same_on(card);
  // Out of memory, or short of it, where it is highest.
  too_small.total_bytes = card.driver_reserved_bytes + card.context_bytes.typical + report.peak.reserved_bytes - 1;
  expect_same_on(too_small);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedStep, testing::ValuesIn(recordings()),
                         [](const auto& recorded) { return recorded.param; });

}  // namespace
}  // namespace tidemark
