// data/efficiency.json, which tools/efficiency/make.py writes, and data/step_time_residuals.json, which
// validation/accuracy.py writes.
#pragma once
#include <string>
#include <string_view>

#include "plan/efficiency.h"

namespace tidemark::io {

inline constexpr const char* kEfficiencySchema = "tidemark.efficiency/1";
inline constexpr const char* kStepTimeResidualsSchema = "tidemark.step-time-residuals/1";

/// Throws Error{bad_file} with the place of what is wrong.
plan::EfficiencyTable read_efficiency(std::string_view text, const std::string& where);

/// Gives each card the band of its own residuals, and those without any that of all.
void read_step_time_residuals(std::string_view text, const std::string& where, plan::EfficiencyTable& table);

}  // namespace tidemark::io
