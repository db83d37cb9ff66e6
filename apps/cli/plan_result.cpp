#include "plan_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "io/text_table.h"

namespace tidemark::cli {
namespace {

const Trial& trial_of(const SearchResult& result, const vary::Point& point) {
  const auto found = std::find_if(result.trials.begin(), result.trials.end(),
                                  [&](const Trial& trial) { return trial.point == point; });
  TM_CHECK(found != result.trials.end(), "what was found has been tried");
  return *found;
}

std::string said(const SearchResult& result, const Trial& trial) {
  return fmt::format("{}: {}", vary::text_of(result.varied, trial.point), trial.verdict);
}

std::string names_of(const std::vector<vary::Varied>& varied) {
  std::vector<std::string> names;
  for (const vary::Varied& one : varied) names.push_back(one.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The first values of all names.
vary::Point least(const SearchResult& result) { return vary::Point(result.varied.size(), 0); }

std::string nothing_fits(const SearchResult& result) {
  const Trial& trial = trial_of(result, least(result));
  return fmt::format("nothing fits: {} needs {}{} of {}\n  {}\n", vary::text_of(result.varied, trial.point),
                     trial.outcome.is_whole ? "" : "at least ", format_bytes(trial.outcome.needed_bytes),
                     format_bytes(result.card.total_bytes), trial.verdict);
}

std::string one_name(const SearchResult& result) {
  const vary::Point& largest = result.found.largest[0];
  std::string text = fmt::format("{} is the largest that fits\n  {}\n", vary::text_of(result.varied, largest),
                                 said(result, trial_of(result, largest)));
  if (largest[0] + 1 < result.varied[0].values.size())
    return text + fmt::format("  {}\n", said(result, trial_of(result, {largest[0] + 1})));
  return text + fmt::format("  {} is the last value that was asked about\n", result.varied[0].values[largest[0]]);
}

std::string several_names(const SearchResult& result) {
  std::vector<std::string> header;
  for (const vary::Varied& one : result.varied) header.push_back(one.name);
  header.push_back("peak"), header.push_back("of the card");
  io::TextTable table(header);
  for (const vary::Point& point : result.found.largest) {
    const Trial& trial = trial_of(result, point);
    std::vector<std::string> row;
    for (std::size_t name = 0; name < point.size(); ++name) row.push_back(result.varied[name].values[point[name]]);
    row.push_back(format_bytes(trial.peak_bytes));
    row.push_back(fmt::format(
        "{:.1f} %", 100 * static_cast<double>(trial.peak_bytes) / static_cast<double>(result.card.total_bytes)));
    table.add(std::move(row));
  }
  return fmt::format("largest that fit: of none of these can {} be raised\n{}",
                     fmt::format("{}", fmt::join(std::vector(header.begin(), header.end() - 2), " or ")),
                     table.text(2));
}

double configurations(const SearchResult& result) {
  double product = 1;
  for (const vary::Varied& one : result.varied) product *= static_cast<double>(one.values.size());
  return product;
}

std::string contradiction_text(const SearchResult& result, const vary::Contradiction& one) {
  return fmt::format("{}, and {}", said(result, trial_of(result, one.smaller.point)),
                     said(result, trial_of(result, one.larger.point)));
}

Value value_of(const SearchResult& result, const vary::Point& point) {
  Value::Map map;
  for (std::size_t name = 0; name < point.size(); ++name)
    map.push_back({result.varied[name].name, result.varied[name].values[point[name]]});
  return map;
}

Value value_of(const SearchResult& result, const Trial& trial) {
  return Value::Map{{"values", value_of(result, trial.point)},
                    {"fits", trial.outcome.fits},
                    {"out_of_memory", !trial.outcome.is_whole},
                    {"peak_bytes", trial.peak_bytes},
                    {"needed_bytes", trial.outcome.needed_bytes},
                    {"verdict", trial.verdict},
                    {"seconds", trial.seconds}};
}

}  // namespace

std::string text_of(const SearchResult& result) {
  std::string text = result.found.largest.empty() ? nothing_fits(result)
                     : result.varied.size() == 1  ? one_name(result)
                                                  : several_names(result);
  text += fmt::format("  {} runs for {:.0f} configurations; assumed: memory grows with {}\n", result.trials.size(),
                      configurations(result), names_of(result.varied));
  for (const vary::Contradiction& one : result.found.contradictions)
    text += fmt::format("  against what is assumed: {}\n", contradiction_text(result, one));
  return text;
}

Value json_of(const SearchResult& result) {
  Value::List varied, largest, runs, contradictions, command(result.command.begin(), result.command.end());
  for (const vary::Varied& one : result.varied)
    varied.push_back(Value::Map{{"name", one.name},
                                {"values", static_cast<std::int64_t>(one.values.size())},
                                {"first", one.values.front()},
                                {"last", one.values.back()}});
  for (const vary::Point& point : result.found.largest) largest.push_back(value_of(result, point));
  for (const Trial& trial : result.trials) runs.push_back(value_of(result, trial));
  for (const vary::Contradiction& one : result.found.contradictions)
    contradictions.push_back(
        Value::Map{{"smaller", value_of(result, one.smaller.point)}, {"larger", value_of(result, one.larger.point)}});
  return Value::Map{{"schema", "tidemark.vary/1"},
                    {"card", Value::Map{{"name", result.card.name}, {"total_bytes", result.card.total_bytes}}},
                    {"command", command},
                    {"varied", varied},
                    {"largest", largest},
                    {"runs", runs},
                    {"assumed", "memory grows with " + names_of(result.varied)},
                    {"contradictions", contradictions}};
}

}  // namespace tidemark::cli
