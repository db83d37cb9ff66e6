#include "io/efficiency_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "io/json_reader.h"

namespace tidemark::io {
namespace {

using plan::Curve;
using plan::Efficiency;

[[noreturn]] void refuse(const std::string& what, const std::string& where) {
  throw Error(Errc::bad_file, what, where);
}

double share_of(const Json& percent, const std::string& where) {
  if (!percent.is_number()) refuse("expected a number", where);
  const auto value = percent.get<double>();
  if (!(value > 0 && value <= 100)) refuse(fmt::format("{} is not above 0 and at most 100 percent", value), where);
  return value / 100;
}

double share_in(ObjectReader& reader) { return share_of(reader.any("percent"), reader.path("percent")); }

double seconds_in(ObjectReader& reader, const char* key) {
  const double seconds = reader.real(key);
  if (!(seconds >= 0 && seconds < 1)) refuse(fmt::format("{} is not from 0 to 1 second", seconds), reader.path(key));
  return seconds;
}

/// Ascending, above 0.
std::vector<double> axis_in(ObjectReader& reader, const char* key, std::size_t least) {
  std::vector<double> points;
  for (const Json& point : reader.array(key)) {
    if (!point.is_number() || point.get<double>() <= (points.empty() ? 0 : points.back()))
      refuse("expected ascending numbers above 0", reader.path(key));
    points.push_back(point.get<double>());
  }
  if (points.size() < least) refuse(fmt::format("expected {} numbers or more", least), reader.path(key));
  return points;
}

std::vector<double> shares_in(ObjectReader& reader, const char* key, std::size_t count) {
  std::vector<double> shares;
  for (const Json& one : reader.array(key))
    shares.push_back(share_of(one, fmt::format("{}[{}]", reader.path(key), shares.size())));
  if (shares.size() != count)
    refuse(fmt::format("expected {} numbers, found {}", count, shares.size()), reader.path(key));
  return shares;
}

/// Lists of lists, as deep as there are axes.
void flatten(const Json& grid, const plan::ProductTimes::Axes& axes, std::size_t depth, const std::string& where,
             std::vector<double>& shares) {
  if (depth == axes.size()) {
    shares.push_back(share_of(grid, where));
    return;
  }
  if (!grid.is_array() || grid.size() != axes[depth].size())
    refuse(fmt::format("expected a list of {}, one for each point of the axis", axes[depth].size()), where);
  for (std::size_t i = 0; i < grid.size(); ++i)
    flatten(grid[i], axes, depth + 1, fmt::format("{}[{}]", where, i), shares);
}

plan::ProductTimes products_in(ObjectReader& reader, const plan::ProductTimes::Axes& axes) {
  std::vector<double> shares;
  flatten(reader.array("percent"), axes, 0, reader.path("percent"), shares);
  return {axes, shares};
}

void read_attention(const Json& rows, const std::string& where, Efficiency& card) {
  if (!rows.is_array()) refuse("expected a list", where);
  if (rows.empty()) return;
  card.attention.clear();
  for (const Json& one : rows) {
    ObjectReader reader(one, fmt::format("{}[{}]", where, card.attention.size()));
    plan::AttentionShares row{.head_width = reader.real("head_width"), .forward = {}, .backward = {}};
    const std::vector<double> tokens = axis_in(reader, "tokens", 1);
    row.forward = {tokens, shares_in(reader, "forward_percent", tokens.size())};
    row.backward = {tokens, shares_in(reader, "backward_percent", tokens.size())};
    card.sources["attention"] = reader.text("source");
    reader.finish();
    card.attention.push_back(std::move(row));
  }
}

plan::Collective collective_of(const std::string& name, const std::string& where) {
  const auto* found = std::find(plan::kCollectiveNames.begin(), plan::kCollectiveNames.end(), name);
  if (found == plan::kCollectiveNames.end()) refuse(fmt::format("\"{}\" is no collective", name), where);
  return static_cast<plan::Collective>(found - plan::kCollectiveNames.begin());
}

/// A larger message is never faster.
void read_collectives(ObjectReader& reader, Efficiency& card) {
  card.collectives.clear();
  for (const Json& one : reader.array("rows")) {
    ObjectReader row(one, fmt::format("{}[{}]", reader.path("rows"), card.collectives.size()));
    plan::CollectiveTimes times;
    times.operation = collective_of(row.text("operation"), row.path("operation"));
    times.ranks = static_cast<double>(row.number("ranks"));
    times.seconds.at = axis_in(row, "bytes", 1);
    for (const Json& microseconds : row.array("microseconds")) {
      if (!microseconds.is_number() || microseconds.get<double>() <= 0)
        refuse("expected numbers above 0", row.path("microseconds"));
      const double before = times.seconds.values.empty() ? 0 : times.seconds.values.back();
      times.seconds.values.push_back(std::max(before, microseconds.get<double>() * 1e-6));
    }
    if (times.seconds.values.size() != times.seconds.at.size())
      refuse(fmt::format("expected {} numbers, as there are bytes", times.seconds.at.size()), row.path("microseconds"));
    row.finish();
    card.collectives.push_back(std::move(times));
  }
}

/// What an entry says beside its source.
void read_entry(ObjectReader& reader, const char* key, Efficiency& card,
                const std::function<void(ObjectReader&)>& read) {
  if (!reader.optional(key)) return;
  ObjectReader entry = reader.object(key);
  read(entry);
  card.sources[key] = entry.text("source");
  entry.finish();
}

void read_card(ObjectReader& reader, const plan::ProductTimes::Axes& axes, Efficiency& card) {
  const auto link = [](plan::LinkShare& share) {
    return [&share](ObjectReader& entry) { share = {share_in(entry), seconds_in(entry, "seconds")}; };
  };
  read_entry(reader, "products", card, [&](ObjectReader& entry) { card.products = products_in(entry, axes); });
  if (const Json* rows = reader.optional("attention")) read_attention(*rows, reader.path("attention"), card);
  read_entry(reader, "memory", card, [&](ObjectReader& entry) { card.memory = share_in(entry); });
  read_entry(reader, "single_products", card, [&](ObjectReader& entry) { card.single_products = share_in(entry); });
  read_entry(reader, "collectives", card, [&](ObjectReader& entry) { read_collectives(entry, card); });
  read_entry(reader, "within_node", card, link(card.within_node));
  read_entry(reader, "between_nodes", card, link(card.between_nodes));
  read_entry(reader, "host_link", card, [&](ObjectReader& entry) { card.host_link.share = share_in(entry); });
  read_entry(reader, "beside_collectives", card,
             [&](ObjectReader& entry) { card.beside_collectives = share_in(entry); });
  read_entry(reader, "operation", card,
             [&](ObjectReader& entry) { card.seconds_per_operation = seconds_in(entry, "seconds"); });
  read_entry(reader, "collective", card,
             [&](ObjectReader& entry) { card.seconds_per_collective = seconds_in(entry, "seconds"); });
}

plan::ProductTimes::Axes axes_in(ObjectReader& reader) {
  ObjectReader axes = reader.object("axes");
  plan::ProductTimes::Axes points{axis_in(axes, "m", 2), axis_in(axes, "n", 2), axis_in(axes, "k", 2)};
  axes.finish();
  return points;
}

/// By the nearest rank.
double quantile(const std::vector<double>& ascending, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(ascending.size())));
  return ascending[std::max<std::size_t>(rank, 1) - 1];
}

/// In order; two trainings may have the same.
std::vector<double> ratios_in(ObjectReader& reader) {
  constexpr const char* kKey = "measured_over_estimated";
  std::vector<double> ratios;
  for (const Json& one : reader.array(kKey)) {
    if (!one.is_number() || one.get<double>() <= 0) refuse("expected numbers above 0", reader.path(kKey));
    ratios.push_back(one.get<double>());
  }
  if (ratios.empty() || !std::is_sorted(ratios.begin(), ratios.end()))
    refuse("expected numbers in order", reader.path(kKey));
  return ratios;
}

/// Has what a row does not: the card that it is a variant of, which stands before it, or cards in general.
const Efficiency& base_of(ObjectReader& row, const plan::EfficiencyTable& table) {
  if (!row.optional("variant_of")) return table.general;
  const std::string card = row.text("variant_of");
  const auto found = table.cards.find(card);
  if (found == table.cards.end()) refuse(fmt::format("no row above is of \"{}\"", card), row.path("variant_of"));
  return found->second;
}

}  // namespace

plan::EfficiencyTable read_efficiency(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  ObjectReader reader(json, where);
  reader.schema(kEfficiencySchema);
  reader.text("source");
  const plan::ProductTimes::Axes axes = axes_in(reader);
  plan::EfficiencyTable table;
  ObjectReader general = reader.object("general");
  read_card(general, axes, table.general);
  general.finish();
  std::size_t at = 0;
  for (const Json& one : reader.array("rows")) {
    ObjectReader row(one, fmt::format("{}[{}]", reader.path("rows"), at++));
    Efficiency card = base_of(row, table);
    card.is_general = false;
    read_card(row, axes, card);
    for (const Json& key : row.array("cards")) {
      if (!key.is_string()) row.fail("cards", "a list of cards", key);
      if (!table.cards.emplace(key.get<std::string>(), card).second)
        refuse(fmt::format("the card \"{}\" has two rows", key.get<std::string>()), row.path("cards"));
    }
    row.finish();
  }
  reader.finish();
  return table;
}

void read_step_time_residuals(std::string_view text, const std::string& where, plan::EfficiencyTable& table) {
  const Json json = parse_json(text, where);
  ObjectReader reader(json, where);
  reader.schema(kStepTimeResidualsSchema);
  reader.text("source");
  std::map<std::string, plan::Band, std::less<>> bands;
  std::vector<double> all;
  for (const Json& one : reader.array("cards")) {
    ObjectReader group(one, fmt::format("{}[{}]", reader.path("cards"), bands.size()));
    const std::vector<double> ratios = ratios_in(group);
    bands[group.text("card")] = {quantile(ratios, 0.1), quantile(ratios, 0.9)};
    group.finish();
    all.insert(all.end(), ratios.begin(), ratios.end());
  }
  reader.finish();
  if (all.empty()) refuse("it has no card", where);
  std::sort(all.begin(), all.end());
  const plan::Band of_all{quantile(all, 0.1), quantile(all, 0.9)};
  table.general.band = of_all;
  for (auto& [key, card] : table.cards) {
    const auto found = bands.find(key);
    card.band = found == bands.end() ? of_all : found->second;
  }
}

}  // namespace tidemark::io
