#include "base/release.h"

#include <algorithm>
#include <charconv>

namespace tidemark {

std::optional<Release> release_of(std::string_view version) {
  Release release;
  const char* const end = version.data() + version.size();
  const auto [point, error] = std::from_chars(version.data(), end, release.major);
  if (error != std::errc() || point == end || *point != '.') return {};
  const auto [rest, minor_error] = std::from_chars(point + 1, end, release.minor);
  const bool ends = rest == end || *rest == '.' || *rest == '+';
  return minor_error == std::errc() && ends ? std::optional(release) : std::nullopt;
}

std::optional<Release> nearest_release(const std::set<Release>& known, std::optional<Release> asked) {
  std::optional<Release> nearest;
  for (const Release& release : known)
    if (!nearest || !asked || release <= *asked) nearest = release;
  return nearest;
}

std::string_view nearest_captured(std::string_view captured, std::string_view equal_on, std::string_view asked) {
  const std::optional<Release> wanted = release_of(asked);
  std::string_view nearest = captured;
  while (!equal_on.empty()) {
    const std::string_view one = equal_on.substr(0, equal_on.find(' '));
    const bool is_later = release_of(one) > release_of(nearest) || (wanted && release_of(nearest) > wanted);
    if ((!wanted || release_of(one) <= wanted) && is_later) nearest = one;
    equal_on.remove_prefix(std::min(one.size() + 1, equal_on.size()));
  }
  return nearest;
}

}  // namespace tidemark
