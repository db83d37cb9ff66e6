// The nearest known name to one that was mistyped.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemark {

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`, ignoring letter case.
int edit_distance(std::string_view a, std::string_view b);

/// The nearest of `known`, when it is near enough for a typing error; the first of equals.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

/// "did you mean X?", or an empty string.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace tidemark
