#include "shipped_program.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/release.h"
#include "estimate/program.h"
#include "resources.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// Folders by release.
std::map<Release, fs::path> releases() {
  std::map<Release, fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(find_resources().data / "programs", error))
    if (const auto release = release_of(entry.path().filename().string())) found.emplace(*release, entry.path());
  return found;
}

}  // namespace

std::optional<fs::path> shipped_program(const std::string& model_type, const Spec& spec) {
  if (model_type.find('/') != std::string::npos) return std::nullopt;
  const std::map<Release, fs::path> folders = releases();
  std::set<Release> having;
  std::error_code error;
  for (const auto& [release, folder] : folders)
    if (fs::is_regular_file(folder / model_type, error)) having.insert(release);
  const std::optional<Release> nearest = nearest_release(having, release_of(spec.transformers));
  if (!nearest) return std::nullopt;
  const fs::path& folder = folders.at(*nearest);
  if (!may_answer(spec, model_type, folder.filename().string())) return std::nullopt;
  return folder / model_type;
}

std::vector<std::string> shipped_model_types() {
  std::set<std::string> types;
  std::error_code error;
  for (const auto& [release, folder] : releases())
    for (const auto& entry : fs::directory_iterator(folder, error)) types.insert(entry.path().filename().string());
  return {types.begin(), types.end()};
}

}  // namespace tidemark::cli
