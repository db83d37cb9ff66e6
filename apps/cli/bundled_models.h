// Configurations of models on the Hugging Face hub that ship with Tidemark, for a machine without a network
// (data/models, tools/bundled_models.py).
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::cli {

struct BundledModel {
  std::string name;              // on the hub
  std::filesystem::path config;  // its config.json
  std::string source, date;      // where its keys were found, and when
};

std::vector<BundledModel> bundled_models();
std::vector<std::string> bundled_names();

/// By its name on the hub, or that without its owner where no other model has it; letter case does not matter.
std::optional<BundledModel> bundled_model(const std::string& name);
/// The one whose configuration this file is.
std::optional<BundledModel> bundled_model_at(const std::filesystem::path& config);

}  // namespace tidemark::cli
