#include "shipped_program.h"

#include <algorithm>
#include <fstream>

#include "estimate/program.h"
#include "files.h"
#include "resources.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// Of all releases.
std::vector<fs::path> files() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& release : fs::directory_iterator(find_resources().data / "programs", error))
    for (const auto& program : fs::directory_iterator(release, error)) found.push_back(program.path());
  std::sort(found.begin(), found.end());
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

std::vector<fs::path> shipped_programs(const Spec& spec, const Value& model_config) {
  const fs::path programs = find_resources().data / "programs";
  std::vector<std::string> names;
  for (const fs::path& program : files()) names.push_back(program.lexically_relative(programs).string());
  std::vector<fs::path> found;
  for (const std::string& name : programs_that_may_answer(spec, model_config, names)) found.push_back(programs / name);
  return found;
}

std::vector<answers::TextOf> shipped_families(const Spec& spec, const Value& model_config) {
  std::vector<answers::TextOf> families;
  for (const fs::path& file : shipped_programs(spec, model_config))
    families.emplace_back([name = file.string()] { return answers::FamilyText{name, read_file(name)}; });
  return families;
}

std::map<std::string, std::vector<std::string>> shipped_model_types() {
  std::map<std::string, std::vector<std::string>> types;
  for (const fs::path& program : files()) {
    const std::string name = program.filename().string();
    const std::string head = name.ends_with(".generation") ? "generation" : head_of(program);
    std::vector<std::string>& heads = types[name.substr(0, name.find('.'))];
    if (!head.empty() && std::find(heads.begin(), heads.end(), head) == heads.end()) heads.push_back(head);
  }
  return types;
}

}  // namespace tidemark::cli
