#pragma once
#include <string>

#include "base/error.h"

namespace tidemark {

/// A file of measurements says `what` at `where`: throws Error.
[[noreturn]] inline void refuse(const std::string& what, const std::string& where, const std::string& hint = {}) {
  throw Error(Errc::bad_value, what, where, hint);
}

}  // namespace tidemark
