// A plan for a terminal, and as JSON.
#pragma once
#include <string>
#include <vector>

#include "plan/largest.h"
#include "plan/plan.h"

namespace tidemark::io {

/// The options of the command line that say the same as keys of a spec file: "--parallel zero2 --zero-offload-optimizer
/// cpu".
std::string options_of(const Value& keys);

/// A key of a spec file for a person to read, without options' dashes: "nothing" for no keys.
std::string change_text(const Value& change);

std::string plan_to_text(const plan::Plan& plan, plan::Goal goal, const ReportCard& card, const plan::Bounds& bounds);
std::string largest_to_text(const plan::LargestPlan& found, plan::Size size, const ReportCard& card,
                            const plan::Bounds& bounds);

/// The fastest way on some cards, and what these cost for an hour.
struct PricedPlan {
  std::string place;
  double per_hour = 0;
  plan::Plan plan;
};
/// Where nothing fits comes last.
bool is_cheaper(const PricedPlan& a, const PricedPlan& b);
std::string priced_to_text(const std::vector<PricedPlan>& all);
Value priced_value(const std::vector<PricedPlan>& all);

inline constexpr const char* kPlanSchema = "tidemark.plan/1";
Value plan_value(const plan::Plan& plan);

}  // namespace tidemark::io
