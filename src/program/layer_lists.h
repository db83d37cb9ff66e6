// Lists of a configuration that say of each layer which kind it is.
#pragma once
#include <optional>

#include "base/value.h"

namespace tidemark {

/// Whether the entries are those of `before`, and then those of `round` again and again.
bool goes_round(const Value& entries, const Value& round, const Value& before);
/// How many layers GPT-Neo's [[kinds, how often], …] comes to; none where it is no such list, or names other kinds.
std::optional<double> layers_spelled(const Value& entries, const Value& kinds);

}  // namespace tidemark
