// Lists of a configuration that say of each layer which kind it is.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace tidemark {

/// Whether the entries are those of `before`, and then those of `round` again and again.
bool goes_round(const Value& entries, const Value& round, const Value& before);
/// How many layers GPT-Neo's [[kinds, how often], …] comes to; none where it is no such list, or names other kinds.
std::optional<double> layers_spelled(const Value& entries, const Value& kinds);
/// Whether they are so many numbers of layers, of so many, in their order.
bool are_rising(const Value& entries, std::int64_t count, std::int64_t layers);
/// A list of words; nothing where an entry is none.
std::vector<std::string> words_of(const Value& entries);
/// Whether all entries are of these kinds, and those that are needed among them.
bool are_of_kinds(const Value& entries, const Value& kinds, const Value& needed);
/// "MM*" as what its letters stand for; none where one stands for nothing.
std::optional<Value> list_of_letters(std::string_view word, const Value& letters);

/// The list with entries in the place of what these were called before; other values as they are.
Value as_now(const Value& entries, const Value& older);

}  // namespace tidemark
