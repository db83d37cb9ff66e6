// Models as transformers builds them of published configurations, by release (tools/trace/record_published.py).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../recordings.h"
#include "io/value_json.h"

namespace tidemark {

/// A model and its tensors, folded: "parameter model.layers.#.weight 64x64 bfloat16 0-3", with tabs between.
struct RecordedModel {
  std::string release, name, class_name;
  Value config;
  std::string raises = {};  // why transformers builds none
  std::vector<std::string> lines = {};
};

inline std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream from(text);
  for (std::string part; std::getline(from, part, separator);) parts.push_back(part);
  return parts;
}

/// "0-3,6" as 0, 1, 2, 3 and 6.
inline std::vector<std::string> numbers_in(const std::string& ranges) {
  std::vector<std::string> numbers;
  for (const std::string& range : split_at(ranges, ',')) {
    const std::int64_t first = std::stoll(range);
    const std::size_t dash = range.find('-');
    const std::int64_t last = dash == std::string::npos ? first : std::stoll(range.substr(dash + 1));
    for (std::int64_t number = first; number <= last; ++number) numbers.push_back(std::to_string(number));
  }
  return numbers;
}

/// Adds a row for each tensor of a folded line.
inline void unfold(const std::string& line, std::set<std::string>& rows) {
  const std::vector<std::string> fields = split_at(line, '\t');
  std::vector<std::string> names{fields[1]};
  for (std::size_t place = 4; place < fields.size(); ++place) {
    std::vector<std::string> longer;
    for (const std::string& number : numbers_in(fields[place]))
      for (std::string name : names) longer.push_back(name.replace(name.find('#'), 1, number));
    names = std::move(longer);
  }
  for (const std::string& name : names) rows.insert(fmt::format("{} {} {} {}", fields[0], name, fields[2], fields[3]));
}

/// A recording as it lies there, and the release that each model is said to equal: {"name": "models/gpt2", "as":
/// "5.24.0"}.
struct Recording {
  std::vector<RecordedModel> models;
  std::map<std::string, std::string> release_with_lines;
};

inline Recording recording_of(const std::string& text, const std::string& release) {
  Recording recording;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('{')) {
      recording.models.back().lines.push_back(line);
      continue;
    }
    const Value head = io::value_from_python_json(line, release);
    const std::string name = *head.find("name")->as_text();
    if (const Value* other = head.find("as")) {
      recording.release_with_lines[name] = *other->as_text();
      continue;
    }
    const Value* raises = head.find("raises");
    recording.models.push_back(
        {release, name, *head.find("class")->as_text(), *head.find("config"), raises ? *raises->as_text() : ""});
  }
  return recording;
}

inline std::vector<RecordedModel> recorded_models(const std::filesystem::path& folder) {
  constexpr std::string_view kEnding = ".txt.gz";
  std::map<std::string, Recording> recordings;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string file = entry.path().filename().string();
    if (!file.ends_with(kEnding)) continue;
    const std::string release = file.substr(0, file.size() - kEnding.size());
    recordings[release] = recording_of(unpack(entry.path()), release);
  }
  std::vector<RecordedModel> models;
  for (const auto& [release, recording] : recordings) {
    models.insert(models.end(), recording.models.begin(), recording.models.end());
    for (const auto& [name, other] : recording.release_with_lines) {
      const std::vector<RecordedModel>& others = recordings.at(other).models;
      RecordedModel model =
          *std::find_if(others.begin(), others.end(), [&](const auto& one) { return one.name == name; });
      model.release = release;
      models.push_back(std::move(model));
    }
  }
  return models;
}

}  // namespace tidemark
