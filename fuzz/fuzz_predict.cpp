// Any spec with a model in it is a prediction or an Error: no bug, no overflow, no number that contradicts another.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "estimate/predict.h"
#include "io/spec_json.h"

namespace {

using namespace tidemark;

constexpr std::int64_t kMostLayers = 3, kMostSteps = 2;

/// Repetition finds nothing that a few layers and steps do not.
Value shortened(const Value& config) {
  const Value::Map* map = config.as_map();
  if (!map) return config;
  Value result = Value::Map();
  for (const auto& [key, value] : *map) {
    const std::int64_t* number = value.as_integer();
    const bool layers = key.find("layer") != std::string::npos || key == "depth";
    result.set(key, number && layers && *number > kMostLayers ? Value(kMostLayers) : shortened(value));
  }
  return result;
}

Card h100() {
  Card card;
  card.key = "h100-80gb";
  card.compute_capability_major = 9;
  card.total_bytes = 85'028'896'768;
  card.multiprocessors = 132;
  card.max_threads_per_multiprocessor = 2048;
  card.shared_memory_per_block_bytes = 49152;
  card.shared_memory_per_block_optin_bytes = 232448;
  card.shared_memory_per_multiprocessor_bytes = 233472;
  card.registers_per_multiprocessor = 65536;
  card.l2_bytes = 52428800;
  return card;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    Spec spec = io::read_spec_json({reinterpret_cast<const char*>(data), size}, "input");
    spec.steps = std::min(spec.steps, kMostSteps);
    spec.grad_accumulation = std::min(spec.grad_accumulation, kMostSteps);
    const Report report = predict(spec, shortened(spec.model), h100());
    if (report.peak.reserved_bytes < report.peak.allocated_bytes) std::abort();
    for (const StepReport& step : report.steps)
      if (step.peak_allocated_bytes > report.peak.allocated_bytes) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
