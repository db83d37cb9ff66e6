#include "program/layer_lists.h"

#include <algorithm>

namespace tidemark {

bool goes_round(const Value& entries, const Value& round, const Value& before) {
  const Value::List *all = entries.as_list(), *cycle = round.as_list(), *ahead = before.as_list();
  if (!all || !cycle || cycle->empty() || !ahead) return false;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const std::size_t place = i - ahead->size();
    if (!((*all)[i] == (i < ahead->size() ? (*ahead)[i] : (*cycle)[place % cycle->size()]))) return false;
  }
  return true;
}

std::optional<double> layers_spelled(const Value& entries, const Value& kinds) {
  const Value::List *all = entries.as_list(), *known = kinds.as_list();
  if (!all || !known) return std::nullopt;
  double layers = 0;
  for (const Value& entry : *all) {
    const Value::List* pair = entry.as_list();
    const Value::List* some = pair && pair->size() == 2 ? (*pair)[0].as_list() : nullptr;
    const std::int64_t* times = some ? (*pair)[1].as_integer() : nullptr;
    const auto is_known = [&](const Value& kind) {
      return std::find(known->begin(), known->end(), kind) != known->end();
    };
    if (!times || *times < 0 || !std::all_of(some->begin(), some->end(), is_known)) return std::nullopt;
    layers += static_cast<double>(some->size()) * static_cast<double>(*times);
  }
  return layers;
}

bool are_rising(const Value& entries, std::int64_t count, std::int64_t layers) {
  const Value::List* all = entries.as_list();
  if (!all || std::ssize(*all) != count) return false;
  std::int64_t before = -1;
  for (const Value& entry : *all) {
    const std::int64_t* number = entry.as_integer();
    if (!number || *number <= before || *number >= layers) return false;
    before = *number;
  }
  return true;
}

std::vector<std::string> words_of(const Value& entries) {
  const Value::List* all = entries.as_list();
  std::vector<std::string> words;
  for (std::size_t i = 0; all && i < all->size(); ++i) {
    if (!(*all)[i].as_text()) return {};
    words.push_back(*(*all)[i].as_text());
  }
  return words;
}

bool are_of_kinds(const Value& entries, const Value& kinds, const Value& needed) {
  const std::vector<std::string> words = words_of(entries), known = words_of(kinds), asked = words_of(needed);
  const auto is_in = [](const std::vector<std::string>& all) {
    return [&all](const std::string& word) { return std::find(all.begin(), all.end(), word) != all.end(); };
  };
  return !words.empty() && std::all_of(words.begin(), words.end(), is_in(known)) &&
         std::all_of(asked.begin(), asked.end(), is_in(words));
}

std::optional<Value> list_of_letters(std::string_view word, const Value& letters) {
  Value::List kinds;
  for (const char letter : word) {
    const Value* kind = letters.find(std::string_view(&letter, 1));
    if (!kind) return std::nullopt;
    kinds.push_back(*kind);
  }
  return Value(std::move(kinds));
}

Value as_now(const Value& entries, const Value& older) {
  const Value::List* all = entries.as_list();
  if (!all || older.is_null()) return entries;
  Value::List now;
  for (const Value& entry : *all) {
    const Value* known = entry.as_text() ? older.find(*entry.as_text()) : nullptr;
    now.push_back(known ? *known : entry);
  }
  return Value(std::move(now));
}

}  // namespace tidemark
