// Tidemark as a C++ library: the memory of a training, predicted from its description.  All of the public interface.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

struct Prediction {
  std::optional<bool> fits;          // nothing when an interval lies on both sides of the card's limit
  std::string verdict;               // one line
  std::int64_t allocated_bytes = 0;  // live tensors at the peak, rounded to 512
  std::int64_t reserved_bytes = 0;   // what PyTorch's caching allocator holds
  std::int64_t device_bytes = 0;     // what nvidia-smi shows
  std::string report;                // everything, as JSON (tidemark.report/1)
};

/// `spec` is YAML or JSON with the keys of docs/reference/spec.md, and holds the model's config.json under "model".
/// `data` is the folder of gpus.json and device_memory.json; find_package(tidemark) names it tidemark_DATA_DIR.
/// Reads these two files and nothing else.  Throws Error (error.h) for what is wrong or not known.
Prediction predict_spec(std::string_view spec, const std::filesystem::path& data);

}  // namespace tidemark
