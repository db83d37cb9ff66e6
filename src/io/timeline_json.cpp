#include "io/timeline_json.h"

#include <fmt/format.h>

#include <iterator>

#include "estimate/verdict.h"
#include "io/json_reader.h"

namespace tidemark::io {
namespace {

using Text = fmt::memory_buffer;

void write_point(Text& text, const TimelinePoint& point) {
  fmt::format_to(
      std::back_inserter(text),
      "  {{\n   \"event\": {},\n   \"allocated_bytes\": {},\n   \"reserved_bytes\": {},\n   \"step\": {},\n   "
      "\"phase\": \"{}\"\n  }}",
      point.event, point.allocated_bytes, point.reserved_bytes, point.step, name_of(point.phase));
}

/// One line for each category: a number on a line of its own for each of thousands would be most of the text.
void write_category(Text& text, const CategoryOverTime& one) {
  const std::string name = Json(one.name).dump(-1, ' ', false, Json::error_handler_t::replace);
  fmt::format_to(std::back_inserter(text), "  {{\"name\": {}, \"bytes\": [", name);
  const char* between = "";
  for (const std::int64_t bytes : one.bytes) {
    text.append(std::string_view(between));
    const fmt::format_int digits(bytes);
    text.append(digits.data(), digits.data() + digits.size());
    between = ", ";
  }
  text.append(std::string_view("]}"));
}

template <class Item, class Write>
void write_list(Text& text, std::string_view key, const std::vector<Item>& items, Write write) {
  fmt::format_to(std::back_inserter(text), " \"{}\": [", key);
  const char* before = "\n";
  for (const Item& item : items) {
    text.append(std::string_view(before));
    write(text, item);
    before = ",\n";
  }
  text.append(std::string_view(items.empty() ? "]" : "\n ]"));
}

}  // namespace

std::string timeline_members(const Report& report) {
  Text text;
  write_list(text, "timeline", report.timeline, write_point);
  if (!report.timeline_by_category.empty()) {
    text.append(std::string_view(",\n"));
    write_list(text, "timeline_by_category", report.timeline_by_category, write_category);
  }
  return fmt::to_string(text);
}

}  // namespace tidemark::io
