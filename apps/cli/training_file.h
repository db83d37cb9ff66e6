// A trainer's own file in the place of a spec: what CONFIG or --trainer names.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/training_config.h"

namespace tidemark::cli {

struct TrainingFileOptions {
  std::string file, accelerate, deepspeed;  // --trainer, --accelerate, --deepspeed
};

/// Whether it is a trainer's file, and no config.json.  Throws Error{unsupported} for YAML, a script or TOML of which
/// no trainer is known.
bool is_training_file(const std::string& path);

/// Whether most keys of the file are those of a spec (--spec), rather than of a trainer or of a model.
bool is_spec_file(const std::string& path);

/// `model` is what was said instead of the model that the file names, or empty; `gpus` how many were asked for, or 0.
io::TrainingConfig read_training_file(const TrainingFileOptions& options, const std::string& model, std::int64_t gpus,
                                      std::int64_t gpus_per_node, bool offline);

/// The config.json of a model: a path to it, the folder that holds it, or a name on the hub.
std::filesystem::path config_of_model(const std::string& model, bool offline);

}  // namespace tidemark::cli
