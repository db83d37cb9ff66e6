#include "base/release.h"

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

}  // namespace tidemark
