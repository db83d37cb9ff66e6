// A plan as JSON: schema tidemark.plan/1.
#pragma once
#include <vector>

#include "io/plan_text.h"

namespace tidemark::io {

inline constexpr const char* kPlanSchema = "tidemark.plan/1";

Value plan_value(const plan::Plan& plan);
Value checkpointing_value(const plan::CheckpointingPlan& found);
Value largest_value(const plan::LargestPlan& found, plan::Size size);
Value progress_value(const plan::Progress& progress);
Value priced_value(const std::vector<PricedPlan>& all);

}  // namespace tidemark::io
