// Verdicts by other methods and on other cards: rows of "name", "fits", "verdict", "total_bytes", "device_bytes" (with
// room, if it does not fit) and "free_bytes", or "error".
#pragma once
#include <string>

#include "answers/data.h"
#include "base/value.h"

namespace tidemark::answers {

/// The keys of a spec with another method.  Keys for trained parts remain if that method sets them too.
Value with_other_method(const Value& keys, const std::string& method);

/// Rows for the lists of names "methods" and "cards", and for "remedies": true, changes.  A question's keys too.
Value verdicts(const Value& asked, const Data& data);

}  // namespace tidemark::answers
