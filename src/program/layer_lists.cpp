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

}  // namespace tidemark
