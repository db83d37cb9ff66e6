#include "base/release.h"

#include <algorithm>
#include <charconv>
#include <map>

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
  const bool has_major =
      asked && std::ranges::any_of(known, [&](const Release& one) { return one.major == asked->major; });
  std::optional<Release> nearest;
  for (const Release& release : known) {
    if (has_major && release.major != asked->major) continue;
    if (!nearest || !asked || release <= *asked) nearest = release;
  }
  return nearest;
}

std::string_view nearest_captured(std::string_view captured, std::string_view equal_on, std::string_view asked) {
  std::map<Release, std::string_view> versions;
  std::set<Release> known;
  const auto add = [&](std::string_view version) {
    if (const std::optional<Release> release = release_of(version); release && known.insert(*release).second)
      versions.emplace(*release, version);
  };
  add(captured);
  while (!equal_on.empty()) {
    const std::string_view one = equal_on.substr(0, equal_on.find(' '));
    add(one);
    equal_on.remove_prefix(std::min(one.size() + 1, equal_on.size()));
  }
  const std::optional<Release> nearest = nearest_release(known, release_of(asked));
  return nearest ? versions.at(*nearest) : captured;
}

}  // namespace tidemark
