#include "base/value.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark {

// Here and not in the header: an Item is not complete while Value is being defined.
Value::Value() = default;
Value::Value(bool value) : data_(value) {}
Value::Value(int value) : data_(std::int64_t{value}) {}
Value::Value(std::int64_t value) : data_(value) {}
Value::Value(double value) : data_(value) {}
Value::Value(const char* text) : data_(std::string(text)) {}
Value::Value(std::string_view text) : data_(std::string(text)) {}
Value::Value(std::string text) : data_(std::move(text)) {}
Value::Value(List list) : data_(std::move(list)) {}
Value::Value(Map map) : data_(std::move(map)) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

bool Value::is_null() const { return std::holds_alternative<std::monostate>(data_); }
const bool* Value::as_bool() const { return std::get_if<bool>(&data_); }
const std::int64_t* Value::as_integer() const { return std::get_if<std::int64_t>(&data_); }
const double* Value::as_real() const { return std::get_if<double>(&data_); }
const std::string* Value::as_text() const { return std::get_if<std::string>(&data_); }
const Value::List* Value::as_list() const { return std::get_if<List>(&data_); }
const Value::Map* Value::as_map() const { return std::get_if<Map>(&data_); }

const Value* Value::find(std::string_view key) const {
  const Map* map = as_map();
  if (!map) return nullptr;
  const auto found = std::find_if(map->begin(), map->end(), [&](const Item& item) { return item.key == key; });
  return found == map->end() ? nullptr : &found->value;
}

void Value::set(std::string_view key, Value value) {
  if (!as_map()) data_ = Map();
  Map& map = std::get<Map>(data_);
  const auto found = std::find_if(map.begin(), map.end(), [&](const Item& item) { return item.key == key; });
  if (found == map.end())
    map.push_back({std::string(key), std::move(value)});
  else
    found->value = std::move(value);
}

void Value::append(std::string key, Value value) { std::get<Map>(data_).push_back({std::move(key), std::move(value)}); }

void Value::append(Value value) { std::get<List>(data_).push_back(std::move(value)); }

Value& Value::at_line(int line) {
  line_ = line;
  return *this;
}

std::string Value::quoted() const {
  if (is_null()) return "null";
  if (const bool* value = as_bool()) return *value ? "true" : "false";
  if (const std::int64_t* value = as_integer()) return fmt::format("{}", *value);
  if (const double* value = as_real()) return fmt::format("{}", *value);
  if (as_list()) return "a list";
  if (as_map()) return "a map";
  const std::string& text = *as_text();
  if (text.size() <= 38) return fmt::format("\"{}\"", text);
  std::size_t end = 35;  // and not in the middle of a character
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return fmt::format("\"{}...\"", text.substr(0, end));
}

bool operator==(const Value& a, const Value& b) { return a.data_ == b.data_; }

Value merged(Value under, const Value& over) {
  const Value::Map* items = over.as_map();
  if (!items || !under.as_map()) return over;
  for (const Value::Item& item : *items) {
    const Value* below = under.find(item.key);
    under.set(item.key, below ? merged(*below, item.value) : item.value);
  }
  return under;
}

}  // namespace tidemark
