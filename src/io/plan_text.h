// A plan for a terminal.
#pragma once
#include <string>
#include <vector>

#include "plan/checkpointing.h"
#include "plan/largest.h"
#include "plan/plan.h"

namespace tidemark::io {

/// The options of the command line that say the same as keys of a spec file: "--parallel zero2 --zero-offload-optimizer
/// cpu".
std::string options_of(const Value& keys);

/// A key of a spec file for a person to read, without options' dashes: "nothing" for no keys.
std::string change_text(const Value& change);

/// How far it has come, in one line: "1,234 of 50,000 decided, 321 simulated; so far 1.25 s a step, 70.2 GiB".
std::string progress_to_text(const plan::Progress& progress);

std::string plan_to_text(const plan::Plan& plan, plan::Goal goal, const ReportCard& card, const plan::Bounds& bounds);
std::string largest_to_text(const plan::LargestPlan& found, plan::Size size, const ReportCard& card,
                            const plan::Bounds& bounds);

std::string checkpointing_to_text(const plan::CheckpointingPlan& found, const ReportCard& card,
                                  const plan::Bounds& bounds);

/// The fastest way on some cards, and what these cost for an hour.
struct PricedPlan {
  std::string place;
  double per_hour = 0;
  plan::Plan plan;
};
/// Of a thousand steps of the first answer.
double cost_of(const PricedPlan& one);
/// Where nothing fits comes last.
bool is_cheaper(const PricedPlan& a, const PricedPlan& b);
std::string priced_to_text(const std::vector<PricedPlan>& all);

}  // namespace tidemark::io
