#include "io/value_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "io/json_reader.h"
#include "io/value_builder.h"

namespace tidemark::io {
namespace {

// The events of nlohmann's parser: a tree of its own type would already have dropped the first of two equal keys.
class Events {
 public:
  Events(std::string_view text, const std::string& where, std::int64_t first_line)
      : text_(text), where_(where), first_line_(first_line), builder_(where) {}

  bool null() { return scalar({}); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(std::int64_t value) { return scalar(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > INT64_MAX) throw Error(Errc::bad_file, fmt::format("the number {} is too large", value), where_);
    return scalar(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) { return scalar(value); }
  bool string(std::string& value) { return scalar(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }  // no text holds it
  bool start_object(std::size_t) { return builder_.begin_map(0), true; }
  bool end_object() { return builder_.end(), true; }
  bool start_array(std::size_t) { return builder_.begin_list(0), true; }
  bool end_array() { return builder_.end(), true; }
  bool key(std::string& name) { return builder_.key(std::move(name), 0), true; }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    if (error.id == 406)  // a number that no type can hold
      throw Error(Errc::bad_file, "it is not JSON that can be read: a number is too large", where_);
    const auto at = static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
    const auto line = first_line_ + std::count(text_.begin(), text_.begin() + at, '\n');
    throw Error(Errc::bad_file, fmt::format("it is not JSON: mistake in line {}", line), where_);
  }

  Value take() { return builder_.take(); }

 private:
  bool scalar(Value value) { return builder_.scalar(std::move(value), 0), true; }

  std::string_view text_;
  const std::string& where_;
  std::int64_t first_line_;
  ValueBuilder builder_;
};

constexpr std::array<std::string_view, 3> kNotNumbers{"-Infinity", "Infinity", "NaN"};

// Outside of texts alone.
std::string without_infinities(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool inside_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto* name = std::find_if(kNotNumbers.begin(), kNotNumbers.end(),
                                    [&](std::string_view one) { return text.substr(at).starts_with(one); });
    if (!inside_text && name != kNotNumbers.end()) {
      result += "null";
      at += name->size() - 1;
      continue;
    }
    if (text[at] == '"') inside_text = !inside_text;
    result += text[at];
    if (inside_text && text[at] == '\\' && at + 1 < text.size()) result += text[++at];
  }
  return result;
}

Json to_json(const Value& value) {
  if (const bool* boolean = value.as_bool()) return *boolean;
  if (const std::int64_t* integer = value.as_integer()) return *integer;
  if (const double* real = value.as_real()) return *real;
  if (const std::string* text = value.as_text()) return *text;
  if (const Value::List* list = value.as_list()) {
    Json json = Json::array();
    for (const Value& element : *list) json.push_back(to_json(element));
    return json;
  }
  if (const Value::Map* map = value.as_map()) {
    Json json = Json::object();
    for (const Value::Item& item : *map) json[item.key] = to_json(item.value);
    return json;
  }
  return nullptr;
}

}  // namespace

Value value_from_json(std::string_view text, const std::string& where, std::int64_t first_line) {
  Events events(text, where, first_line);
  Json::sax_parse(text.begin(), text.end(), &events);
  return events.take();
}

Value value_from_python_json(std::string_view text, const std::string& where) {
  return value_from_json(without_infinities(text), where);
}

std::string value_to_json(const Value& value) {
  return to_json(value).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string value_to_json_line(const Value& value) {
  return to_json(value).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::io
