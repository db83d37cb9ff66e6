#include "bundled_models.h"

#include <algorithm>
#include <cctype>

#include "base/value.h"
#include "files.h"
#include "io/value_json.h"
#include "resources.h"

namespace tidemark::cli {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Behind its owner.
std::string own_name(const std::string& name) { return lower_case(name.substr(name.find('/') + 1)); }

std::string text_at(const Value& map, const char* key) {
  const Value* value = map.find(key);
  return value && value->as_text() ? *value->as_text() : "";
}

}  // namespace

std::vector<BundledModel> bundled_models() {
  const std::filesystem::path folder = find_resources().data / "models", index = folder / "index.json";
  const Value read = io::value_from_json(read_file(index), index.string());
  std::vector<BundledModel> models;
  const Value* files = read.find("configurations");
  if (!files || !files->as_map()) return models;
  for (const auto& [file, row] : *files->as_map())
    if (const Value* names = row.find("names"); names && names->as_list())
      for (const Value& name : *names->as_list())
        models.push_back(
            {name.as_text() ? *name.as_text() : "", folder / file, text_at(row, "source"), text_at(row, "date")});
  return models;
}

std::vector<std::string> bundled_names() {
  std::vector<std::string> names;
  for (BundledModel& model : bundled_models()) names.push_back(std::move(model.name));
  return names;
}

std::optional<BundledModel> bundled_model(const std::string& name) {
  const bool has_owner = name.find('/') != std::string::npos;
  std::optional<BundledModel> found;
  for (BundledModel& model : bundled_models()) {
    if (has_owner ? lower_case(model.name) != lower_case(name) : own_name(model.name) != own_name(name)) continue;
    if (found && found->config != model.config) return std::nullopt;
    if (!found) found = std::move(model);
  }
  return found;
}

std::optional<BundledModel> bundled_model_at(const std::filesystem::path& config) {
  for (BundledModel& model : bundled_models())
    if (model.config == config) return std::move(model);
  return std::nullopt;
}

}  // namespace tidemark::cli
