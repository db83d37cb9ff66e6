#include "estimate/releases.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>
#include <vector>

#include "base/release.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

// What the recorded parameters and models were recorded with, oldest first.
constexpr std::array<std::string_view, 1> kTransformers{"5.17.0"};

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

/// Of `known`, oldest first, the newest that is not newer than what was asked for; else the oldest.
KnownRelease known_release(const char* package, std::span<const std::string_view> known, std::string_view asked,
                           bool is_patch) {
  std::string_view nearest = known.front();
  for (const std::string_view one : known)
    if (numbers_of(one).parts <= numbers_of(asked).parts) nearest = one;
  const Numbers wanted = numbers_of(asked);
  const bool is_it = is_patch || wanted.parts == numbers_of(nearest).parts;
  if (is_it && (wanted.rest.empty() || wanted.rest[0] == '+')) return {std::string(nearest), {}};
  const char* which = nearest == known.back() && numbers_of(nearest).parts <= wanted.parts ? "the newest" : "the nearest";
  return {std::string(nearest), fmt::format("{} {} has not been compared with predictions: it is taken for {}, {} that "
                                            "has",
                                            package, asked, nearest, which)};
}

}  // namespace

KnownRelease known_torch(std::string_view asked) {
  if (asked.empty()) return {std::string(torch_rules().version), {}};
  const std::string_view rules = torch_rules(asked).version;  // of 2.14.0 those of 2.14.1
  const bool is_patch = release_of(asked) == release_of(rules);
  KnownRelease known = is_patch ? known_release("torch", std::array{rules}, asked, is_patch)
                                : known_release("torch", known_torch_versions(), asked, is_patch);
  if (const std::string_view caveat = torch_rules(known.version).caveat; known.assumption.empty() && !caveat.empty())
    known.assumption = fmt::format("torch {}: {}", known.version, caveat);
  return known;
}

KnownRelease known_transformers(std::string_view asked) {
  if (asked.empty()) return {std::string(kTransformers.back()), {}};
  return known_release("transformers", kTransformers, asked, false);
}

bool is_version(std::string_view text) {
  const Numbers numbers = numbers_of(text);
  constexpr std::string_view kGoesOn = ".+-abcdprv";  // 2.12.0.dev1, 2.12.0+cu130, 2.12.0a0, 2.12.0rc1
  return numbers.count >= 2 && (numbers.rest.empty() || (numbers.rest.size() > 1 && kGoesOn.find(numbers.rest[0]) !=
                                                                                       std::string_view::npos));
}

}  // namespace tidemark
