// A recorded training step: what was asked for, on which card.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "estimate/spec.h"
#include "recordings.h"

namespace tidemark {

struct RecordedStepText {
  Value header;  // spec, card and versions
  std::istringstream lines;
};

RecordedStepText read_recorded_step(const Recordings& recordings, const RecordedCase& recorded);

/// What was trained, with the release that it was recorded with.
Spec spec_of(const Value& header);

const Card& card_of(const Value& header);

/// `told()` of an allocation is a line about it and what came before.  Shows where the two lists part.
template <class Allocation>
void expect_same(const std::vector<Allocation>& recorded, const std::vector<Allocation>& predicted) {
  const auto [a, b] = std::mismatch(recorded.begin(), recorded.end(), predicted.begin(), predicted.end());
  const auto at = static_cast<std::size_t>(a - recorded.begin());
  const auto show = [at](const std::vector<Allocation>& list) {
    std::string text;
    for (std::size_t i = at < 3 ? 0 : at - 3; i < std::min(at + 4, list.size()); ++i)
      text += fmt::format("{} {:6} {}\n", i == at ? ">" : " ", i, list[i].told());
    return text;
  };
  EXPECT_TRUE(a == recorded.end() && b == predicted.end())
      << "allocation " << at << " of " << recorded.size() << ", predicted " << predicted.size() << "\nrecorded:\n"
      << show(recorded) << "predicted:\n"
      << show(predicted);
}

}  // namespace tidemark
