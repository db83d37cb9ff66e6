// Which keys of a config.json transformers reads, class by class: a table that tools/trace/record_config_keys.py writes.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace tidemark {

/// A map inside a configuration that has a class of its own.
struct ConfigPart {
  std::string_view key, model_type;
  bool says_its_type = false;  // whether a `model_type` in it counts, or the class is always that one
};

struct ConfigClass {
  std::string_view model_type;
  std::string_view keys;  // that this class reads and others may not, with blanks between them
  std::vector<ConfigPart> parts;
  bool takes_text_keys = false;  // those of a missing text_config may stand beside the others
};

/// In the order of their types.
std::span<const ConfigClass> config_classes();
/// What transformers asks every configuration for, with blanks between them.
extern const char* const kKeysOfAllClasses;

}  // namespace tidemark
