// Models as transformers builds them of published configurations, by release (tools/trace/record_published.py).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

inline std::vector<RecordedModel> recorded_models(const std::filesystem::path& folder) {
  std::vector<RecordedModel> models;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".txt.gz")) continue;
    std::istringstream text(unpack(entry.path()));
    for (std::string line; std::getline(text, line);) {
      if (!line.starts_with('{')) {
        models.back().lines.push_back(line);
        continue;
      }
      const Value head = io::value_from_python_json(line, file);
      const Value* raises = head.find("raises");
      models.push_back({file.substr(0, file.size() - 7), *head.find("name")->as_text(), *head.find("class")->as_text(),
                        *head.find("config"), raises ? *raises->as_text() : ""});
    }
  }
  return models;
}

}  // namespace tidemark
