#include "io/spec_yaml.h"

#include "io/value_json.h"
#include "io/value_yaml.h"

namespace tidemark::io {
namespace {

Value empty_map_for_null(Value value) { return value.is_null() ? Value(Value::Map()) : value; }

}  // namespace

Spec read_spec_yaml(std::string_view text, const std::string& where) {
  return read_spec(empty_map_for_null(value_from_yaml(text, where)), where);
}

Value value_of_spec_file(std::string_view text, const std::string& where) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool brace = first != std::string_view::npos && text[first] == '{';
  const bool is_yaml = where.ends_with(".yaml") || where.ends_with(".yml");
  if (where.ends_with(".json") || (brace && !is_yaml)) return value_from_json(text, where);
  return empty_map_for_null(value_from_yaml(text, where));
}

}  // namespace tidemark::io
