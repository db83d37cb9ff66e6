#include "estimate/releases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/release.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

struct Numbers {
  std::array<int, 3> parts{};
  std::size_t count = 0;
  std::string_view rest;  // ".dev20260101+cu130"
};

Numbers numbers_of(std::string_view text) {
  Numbers numbers;
  while (numbers.count < numbers.parts.size()) {
    const bool follows = numbers.count > 0;
    if (follows && !text.starts_with('.')) break;
    const char* from = text.data() + (follows ? 1 : 0);
    const auto [end, error] = std::from_chars(from, text.data() + text.size(), numbers.parts[numbers.count]);
    if (error != std::errc() || *from == '-') break;
    ++numbers.count;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  numbers.rest = text;
  return numbers;
}

/// That `nearest` answers for `asked`, which it may be another build of (`is_it`).
KnownRelease answered_by(const char* package, std::string_view nearest, bool is_it, std::string_view newest,
                         std::string_view asked) {
  const Numbers wanted = numbers_of(asked);
  if (is_it && (wanted.rest.empty() || wanted.rest[0] == '+')) return {std::string(nearest), {}};
  const char* which = nearest == newest && numbers_of(nearest).parts <= wanted.parts ? "the newest" : "the nearest";
  return {std::string(nearest), fmt::format("{} {} has not been compared with predictions: it is taken for {}, {} that "
                                            "has",
                                            package, asked, nearest, which)};
}

}  // namespace

KnownRelease known_torch(std::string_view asked) {
  if (asked.empty()) return known_torch(known_torch_versions().back());
  const TorchRules& rules = torch_rules(asked);
  const bool is_it = release_of(asked) == release_of(rules.version);  // of 2.14.0 those of 2.14.1
  KnownRelease known = answered_by("torch", rules.version, is_it, known_torch_versions().back(), asked);
  if (known.assumption.empty() && !rules.caveat.empty())
    known.assumption = fmt::format("torch {}: {}", known.version, rules.caveat);
  return known;
}

const TorchRules& known_torch_rules(std::string_view asked) { return torch_rules(known_torch(asked).version); }

KnownRelease captured_transformers(std::string_view captured, std::string_view equal_on, std::string_view asked) {
  const std::string_view nearest = nearest_captured(captured, equal_on, asked);
  if (asked.empty()) return {std::string(nearest), {}};
  const std::string_view last = equal_on.substr(equal_on.rfind(' ') + 1);  // they are in order
  const std::string_view newest = release_of(last) > release_of(captured) ? last : captured;
  return answered_by("transformers", nearest, numbers_of(nearest).parts == numbers_of(asked).parts, newest, asked);
}

bool is_version(std::string_view text) {
  const Numbers numbers = numbers_of(text);
  constexpr std::string_view kGoesOn = ".+-abcdprv";  // 2.12.0.dev1, 2.12.0+cu130, 2.12.0a0, 2.12.0rc1
  return numbers.count >= 2 &&
         (numbers.rest.empty() || (numbers.rest.size() > 1 && kGoesOn.find(numbers.rest[0]) != std::string_view::npos));
}

}  // namespace tidemark
