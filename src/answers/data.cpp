#include "answers/data.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "base/read_stream.h"
#include "io/efficiency_json.h"
#include "io/residuals_json.h"

namespace tidemark::answers {
namespace {

namespace fs = std::filesystem;

std::string text_of_file(const fs::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Errc::not_found, "cannot read: " + std::generic_category().message(errno), path.string());
  return read_stream(file);
}

std::vector<std::string> names_of_programs(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& release : fs::directory_iterator(folder, error))
    for (const auto& entry : fs::directory_iterator(release.path(), error))
      names.push_back(release.path().filename().string() + "/" + entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Programs programs_of_folder(const fs::path& folder, ReadPrograms when) {
  Programs programs{.names = names_of_programs(folder), .text = {}};
  if (when == ReadPrograms::when_asked) {
    programs.text = [folder](const std::string& name) { return text_of_file(folder / name); };
    return programs;
  }
  const auto texts = std::make_shared<std::map<std::string, std::string>>();
  for (const std::string& name : programs.names) texts->emplace(name, text_of_file(folder / name));
  programs.text = [texts](const std::string& name) { return texts->at(name); };
  return programs;
}

}  // namespace

Data data_of_folder(const fs::path& folder, std::string_view version, ReadPrograms when) {
  const auto text = [&](const char* name) { return text_of_file(folder / name); };
  constexpr const char *kResiduals = "residuals.json", *kEfficiency = "efficiency.json",
                       *kStepTimes = "step_time_residuals.json";
  Data data{.version = std::string(version),
            .cards = io::read_catalogue(text("gpus.json"), "gpus.json"),
            .device_memory = text("device_memory.json"),
            .residuals = io::read_residuals(text(kResiduals), kResiduals),
            .efficiency = io::read_efficiency(text(kEfficiency), kEfficiency),
            .programs = programs_of_folder(folder / "programs", when)};
  io::read_step_time_residuals(text(kStepTimes), kStepTimes, data.efficiency);
  return data;
}

}  // namespace tidemark::answers
