// Descriptions that the fields of estimate/spec.h share: a number, a string or a switch, and a choice.
#pragma once
#include <span>
#include <string_view>

#include "base/fields.h"

namespace tidemark::spec_detail {

inline FieldInfo whole(std::string_view group, std::string_view help, double low, double high) {
  return {.help = help, .placeholder = "N", .group = group, .low = low, .high = high};
}
inline FieldInfo text(std::string_view group, std::string_view help, std::string_view placeholder = {}) {
  return {.help = help, .placeholder = placeholder, .group = group};
}
inline FieldInfo choice(std::string_view group, std::string_view help, std::span<const std::string_view> names) {
  return {.help = help, .group = group, .names = names};
}

}  // namespace tidemark::spec_detail
