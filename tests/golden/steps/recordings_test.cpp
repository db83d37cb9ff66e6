// Every recording of a real training step, predicted: the same allocations in the same order, and between two of them
// the same frees.  tools/trace/record_steps.py makes the recordings.
#include "../allocations.h"
#include "../programs_at_hand.h"
#include "estimate/verdict.h"
#include "io/report_json.h"

namespace tidemark {
namespace {

const Recordings& recordings() {
  static const Recordings all(recordings_folder(TIDEMARK_RECORDINGS));
  return all;
}

/// Of a release, the recordings that differ from the base's, and a few of the others; or else the rest of the others.
std::vector<RecordedCase> of_releases(bool telling) {
  constexpr std::size_t kOneOf = 16;
  std::vector<RecordedCase> found;
  std::size_t equal = 0;
  for (const RecordedCase& recorded : recordings().cases())
    if (!recorded.is_base && telling == (recorded.differs || equal++ % kOneOf == 0)) found.push_back(recorded);
  return found;
}

std::vector<RecordedCase> of_base() {
  std::vector<RecordedCase> found = recordings().cases();
  std::erase_if(found, [](const RecordedCase& recorded) { return !recorded.is_base; });
  return found;
}

Recorded read(const RecordedCase& one) { return read_recorded(recordings(), one); }

Allocations predicted(const Value& header) {
  const Spec spec = spec_of(header);
  Allocations events;
  predict_at_hand(spec, spec.model, card_of(header), {.on_event = [&](std::string_view line) { events.add(line); }});
  return events;
}

class RecordedStep : public testing::TestWithParam<RecordedCase> {};

TEST_P(RecordedStep, IsPredictedAllocationByAllocation) {
  const Recorded recorded = read(GetParam());
  const Allocations ours = predicted(recorded.header);
  if (GetParam().open.empty()) return expect_same(recorded.events.list, ours.list);
  EXPECT_FALSE(recorded.events.list == ours.list) << "it is predicted now: take it out of torch-RELEASE.open.txt";
}

class RepeatedStep : public RecordedStep {};

TEST_P(RepeatedStep, IsReportedTheSame) {
  const Value header = read(GetParam()).header;
  Spec spec = spec_of(header);
  spec.steps = 5;
  const Card card = card_of(header);
  Card too_small = card;
  const auto predicted_on = [&](const Card& on, bool repeat, bool interval) {
    return predict_at_hand(spec, spec.model, on, {.on_event = {}, .interval = interval, .repeat_steps = repeat});
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

constexpr auto kTold = [](const auto& recorded) { return recorded.param.told(); };
INSTANTIATE_TEST_SUITE_P(Base, RecordedStep, testing::ValuesIn(of_base()), kTold);
INSTANTIATE_TEST_SUITE_P(Base, RepeatedStep, testing::ValuesIn(of_base()), kTold);
INSTANTIATE_TEST_SUITE_P(Releases, RecordedStep, testing::ValuesIn(of_releases(true)), kTold);
INSTANTIATE_TEST_SUITE_P(Others, RecordedStep, testing::ValuesIn(of_releases(false)), kTold);

}  // namespace
}  // namespace tidemark
