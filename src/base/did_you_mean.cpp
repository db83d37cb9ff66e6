#include "base/did_you_mean.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace tidemark {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// "a100" is meant for "a100-40gb" and "h100pcie" for "h100-pcie": what is left out is not a typing error.
bool is_shortened(std::string_view name, std::string_view full) {
  std::string a, b;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c))) a += lower(c);
  for (char c : full)
    if (std::isalnum(static_cast<unsigned char>(c))) b += lower(c);
  return a.size() >= 2 && b.find(a) != std::string::npos;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment over three rows: before_last, last, current.
  std::vector<int> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  const std::string* best = nullptr;
  int best_distance = std::max(2, static_cast<int>(name.size()) / 3) + 1;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(name, candidate);
    if (distance < best_distance) best = &candidate, best_distance = distance;
  }
  if (best) return *best;
  const auto shortened =
      std::find_if(known.begin(), known.end(), [&](const std::string& full) { return is_shortened(name, full); });
  return shortened == known.end() ? std::nullopt : std::optional(*shortened);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const auto nearest = nearest_name(name, known);
  return nearest ? "did you mean " + *nearest + "?" : std::string();
}

}  // namespace tidemark
