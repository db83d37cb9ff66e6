// An error as an answer.
#pragma once
#include <string_view>

#include "base/error.h"
#include "base/value.h"

namespace tidemark::answers {

/// {"error": {"code", "message", "where", "hint", "bug"}}, in the words of the command.
Value error_value(const Error& error);
Value error_value_of_bug(std::string_view what);

}  // namespace tidemark::answers
