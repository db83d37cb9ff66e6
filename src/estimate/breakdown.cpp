#include "estimate/breakdown.h"

#include <algorithm>
#include <unordered_map>

namespace tidemark {

std::string without_indices(std::string_view name) {
  std::string result;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool index = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    result += index ? std::string_view("*") : part;
    if (dot == std::string_view::npos) return result;
    result += '.';
    name.remove_prefix(dot + 1);
  }
}

std::vector<NamedBytes> layers_together(const std::vector<NamedBytes>& rows) {
  std::vector<NamedBytes> together;
  std::unordered_map<std::string, std::size_t> position;
  for (const NamedBytes& row : rows) {
    std::string name = without_indices(row.name);
    const auto [at, is_new] = position.emplace(name, together.size());
    if (is_new) together.push_back({std::move(name), 0});
    together[at->second].bytes += row.bytes;
  }
  std::stable_sort(together.begin(), together.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return together;
}

}  // namespace tidemark
