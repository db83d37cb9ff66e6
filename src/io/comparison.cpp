#include "io/comparison.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "io/events_text.h"
#include "io/text_table.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

constexpr std::size_t kNameColumns = 30;

std::string bytes_table(const char* title, const std::vector<ComparedBytes>& rows, const Comparison& comparison) {
  if (rows.empty()) return {};
  TextTable table({title, shorten_front(comparison.name_a, kNameColumns),
                   shorten_front(comparison.name_b, kNameColumns), "difference", ""});
  for (const ComparedBytes& row : rows) {
    const auto shown = [](const std::optional<std::int64_t>& bytes) {
      return bytes ? group_digits(*bytes) : std::string("-");
    };
    std::string difference, rounded;
    if (row.a && row.b) {
      const std::int64_t bytes = checked_add(*row.b, -*row.a);
      // "~": the two are counted in different ways, as a note says.
      difference = (row.exact || bytes == 0 ? "" : "~") + std::string(bytes > 0 ? "+" : "") + group_digits(bytes);
      if (bytes != 0) rounded = format_bytes_signed(bytes);
    }
    table.add({row.name, shown(row.a), shown(row.b), difference, rounded});
  }
  return table.text(2);
}

std::string side(const std::string& name, const std::vector<MemoryEvent>& around, std::size_t first,
                 const std::optional<std::size_t>& at) {
  std::string text = at ? fmt::format("  {}, event {}:\n", name, group_digits(static_cast<std::int64_t>(*at) + 1))
                        : fmt::format("  {}, at its end:\n", name);
  for (std::size_t i = 0; i < around.size(); ++i)
    text += fmt::format("    {} {}\n", at == first + i ? '>' : ' ', event_line(around[i]));
  return text;
}

std::string divergence_text(const Comparison& comparison) {
  if (!comparison.divergence) {
    if (comparison.compared_events) return "  every event is the same\n";
    return comparison.compared_steps ? "  steps and phases: no difference\n" : "";
  }
  const Divergence& found = *comparison.divergence;
  if (!comparison.compared_events) return fmt::format("  first difference: {}\n", found.what);
  return fmt::format("  first difference, after {} equal allocations: {}\n", group_digits(found.equal_allocations),
                     found.what) +
         side(comparison.name_a, found.around_a, found.first_a, found.a) +
         side(comparison.name_b, found.around_b, found.first_b, found.b);
}

Value rows_value(const std::vector<ComparedBytes>& rows) {
  const auto or_null = [](const std::optional<std::int64_t>& bytes) { return bytes ? Value(*bytes) : Value(); };
  Value::List list;
  for (const ComparedBytes& row : rows)
    list.push_back(
        Value::Map{{"name", row.name}, {"a_bytes", or_null(row.a)}, {"b_bytes", or_null(row.b)}, {"exact", row.exact}});
  return list;
}

Value side_value(const std::vector<MemoryEvent>& around, std::size_t first, const std::optional<std::size_t>& at) {
  Value::List lines;
  for (const MemoryEvent& event : around) lines.emplace_back(event_line(event));
  return Value::Map{{"event", at ? Value(static_cast<std::int64_t>(*at)) : Value()},
                    {"first", static_cast<std::int64_t>(first)},
                    {"around", lines}};
}

Value divergence_value(const Comparison& comparison) {
  if (!comparison.divergence) return {};
  const Divergence& found = *comparison.divergence;
  Value value = Value::Map{{"what", found.what}};
  if (!comparison.compared_events) return value;
  value.set("equal_allocations", found.equal_allocations);
  value.set("a", side_value(found.around_a, found.first_a, found.a));
  value.set("b", side_value(found.around_b, found.first_b, found.b));
  return value;
}

}  // namespace

std::string comparison_to_text(const Comparison& comparison) {
  std::string text = comparison.same() ? "no difference\n" : "they differ\n";
  text += bytes_table("peak", comparison.totals, comparison);
  text += bytes_table("live at the peak", comparison.categories, comparison);
  text += divergence_text(comparison);
  for (const std::string& note : comparison.notes) text += "  note: " + note + "\n";
  return text;
}

std::string comparison_to_json(const Comparison& comparison) {
  Value::List notes(comparison.notes.begin(), comparison.notes.end());
  return value_to_json(Value::Map{{"schema", "tidemark.diff/1"},
                                  {"same", comparison.same()},
                                  {"a", comparison.name_a},
                                  {"b", comparison.name_b},
                                  {"totals", rows_value(comparison.totals)},
                                  {"categories", rows_value(comparison.categories)},
                                  {"compared_events", comparison.compared_events},
                                  {"compared_steps", comparison.compared_steps},
                                  {"first_difference", divergence_value(comparison)},
                                  {"notes", notes}});
}

}  // namespace tidemark::io
