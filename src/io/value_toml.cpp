#include "io/value_toml.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <sstream>

#include "base/error.h"
#include "io/value_builder.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

/// Ten times what a training's file has.  toml++ makes a table of each dot in a key and lets go of them by
/// recursion, as deep as the text allows.
constexpr std::size_t kMaxTomlBytes = 1 << 15;

int line_of_node(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

template <class Node>
std::string text_of_date(const Node& node) {
  std::ostringstream text;
  text << node;
  return text.str();
}

void build(const toml::node& node, ValueBuilder& builder) {
  const int line = line_of_node(node);
  if (const toml::table* table = node.as_table()) {
    builder.begin_map(line);
    for (const auto& [key, value] : *table) {
      builder.key(std::string(key.str()), line_of_node(value));
      build(value, builder);
    }
    return builder.end();
  }
  if (const toml::array* array = node.as_array()) {
    builder.begin_list(line);
    for (const toml::node& one : *array) build(one, builder);
    return builder.end();
  }
  if (const auto* text = node.as_string()) return builder.scalar(text->get(), line);
  if (const auto* number = node.as_integer()) return builder.scalar(number->get(), line);
  if (const auto* number = node.as_floating_point()) return builder.scalar(number->get(), line);
  if (const auto* truth = node.as_boolean()) return builder.scalar(truth->get(), line);
  if (const auto* date = node.as_date()) return builder.scalar(text_of_date(*date), line);
  if (const auto* time = node.as_time()) return builder.scalar(text_of_date(*time), line);
  builder.scalar(text_of_date(*node.as_date_time()), line);
}

}  // namespace

Value value_from_toml(std::string_view text, const std::string& where) {
  if (text.size() > kMaxTomlBytes) throw Error(Errc::bad_file, "it is too large for settings as TOML", where);
  try {
    const toml::table table = toml::parse(text, where);
    ValueBuilder builder(where);
    build(table, builder);
    return builder.take();
  } catch (const toml::parse_error& error) {
    throw Error(Errc::bad_file, fmt::format("it is not TOML: {}", error.description()),
                fmt::format("{}:{}", where, error.source().begin.line));
  }
}

std::string value_to_toml(const Value& map) {
  std::string text;
  for (const Value::Item& table : *map.as_map()) {
    text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table.key);
    for (const Value::Item& item : *table.value.as_map()) {
      std::string value = value_to_json_line(item.value);  // TOML's too: its texts know the same escapes
      while (value.ends_with('\n')) value.pop_back();
      text += fmt::format("{} = {}\n", item.key, value);
    }
  }
  return text;
}

}  // namespace tidemark::io
