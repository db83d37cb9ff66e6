// A version of PyTorch or the like: what of it names the release, and which of two is newer.
#pragma once
#include <compare>
#include <optional>
#include <set>
#include <string_view>

namespace tidemark {

/// Of "2.14.1+cu130": 2 and 14.  A patch of a release behaves as the release.
struct Release {
  int major = 0, minor = 0;
  auto operator<=>(const Release&) const = default;
};

/// Empty when the text does not begin with two numbers and a point between them.
std::optional<Release> release_of(std::string_view version);

/// Of those that are known the one that was asked for, else the nearest before it, else the oldest; the newest where
/// nobody asked for one.  Those with the same first number go before all others, as that tells of a break: 5.17 is
/// nearer to 5.2 than 4.57 is.  Empty when none is known.
std::optional<Release> nearest_release(const std::set<Release>& known, std::optional<Release> asked);

/// Of the release that something was captured of, and others that it is equal on ("5.23.0 5.24.0", in order), the one
/// that answers for `asked`, as above.
std::string_view nearest_captured(std::string_view captured, std::string_view equal_on, std::string_view asked);

}  // namespace tidemark
