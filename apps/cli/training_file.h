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
  bool nearest = false;                     // --nearest
};

/// Whether it is a trainer's file, and no config.json.  Throws Error{unsupported} for YAML, a script or TOML of which
/// no trainer is known.
bool is_training_file(const std::string& path);

/// Whether most keys of the file are those of a spec (--spec), rather than of a trainer or of a model.
bool is_spec_file(const std::string& path);

/// The format of the file; nullptr for an empty path.
const io::TrainingFormat* format_of_training_file(const std::string& path);

/// `model` replaces the one that the file names, unless it is empty; `said` are keys of a spec that win over the file,
/// of which `gpus` may be larger.
io::TrainingConfig read_training_file(const TrainingFileOptions& options, const std::string& model, const Value& said,
                                      std::int64_t gpus, bool offline);

/// The config.json of a model: a path to it, the folder that holds it, or a name on the hub.
std::filesystem::path config_of_model(const std::string& model, bool offline);

}  // namespace tidemark::cli
