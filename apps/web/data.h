// Files of data/ as texts: a browser has no files.  CMake writes data.cpp from data.cpp.in.
#pragma once
#include <span>
#include <string_view>

namespace tidemark::web {

extern const std::string_view kGpus;               // gpus.json
extern const std::string_view kDeviceMemory;       // device_memory.json
extern const std::string_view kResiduals;          // residuals.json
extern const std::string_view kEfficiency;         // efficiency.json
extern const std::string_view kStepTimeResiduals;  // step_time_residuals.json
/// The captured programs that there are to ask for: "5.17.0/granite".
std::span<const std::string_view> program_names();

}  // namespace tidemark::web
