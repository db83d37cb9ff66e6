// The Error that a piece of code throws, so that a test can look at its four fields.
#pragma once
#include <optional>

#include "base/error.h"

namespace tidemark {

template <class Action>
std::optional<Error> error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace tidemark
