#include "shipped_program.h"

#include <algorithm>
#include <fstream>
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

/// What its header says that it is trained for.
std::string head_of(const fs::path& program) {
  std::ifstream file(program);
  const std::string key = "head ";
  for (std::string line; std::getline(file, line) && !line.empty();)
    if (line.starts_with(key)) return line.substr(key.size());
  return "";
}

}  // namespace

std::vector<fs::path> shipped_programs(const std::string& model_type, const Spec& spec, const Value& model_config) {
  std::vector<fs::path> found;
  if (model_type.find('/') != std::string::npos) return found;
  const std::map<Release, fs::path> folders = releases();
  for (const std::string& name : program_names(model_type, spec.head, model_config)) {
    std::set<Release> having;
    std::error_code error;
    for (const auto& [release, folder] : folders)
      if (fs::is_regular_file(folder / name, error)) having.insert(release);
    while (const std::optional<Release> nearest = nearest_release(having, release_of(spec.transformers))) {
      const fs::path& folder = folders.at(*nearest);
      if (found.empty() && !may_answer(spec, model_type, folder.filename().string())) return found;
      found.push_back(folder / name);
      having.erase(*nearest);
    }
  }
  return found;
}

std::map<std::string, std::vector<std::string>> shipped_model_types() {
  std::map<std::string, std::vector<std::string>> types;
  std::error_code error;
  for (const auto& [release, folder] : releases())
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string(), head = head_of(entry.path());
      std::vector<std::string>& heads = types[name.substr(0, name.find('.'))];
      if (!head.empty() && std::find(heads.begin(), heads.end(), head) == heads.end()) heads.push_back(head);
    }
  return types;
}

}  // namespace tidemark::cli
