// A configuration as it was written, whatever it was written in: a tree of null, true/false, numbers, texts, lists and
// maps. JSON and YAML become one in src/io; everything below reads configurations from it and knows no file format.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark {

class Value {
 public:
  struct Item;
  using List = std::vector<Value>;
  using Map = std::vector<Item>;  // in the order of the file; the readers refuse a key that stands there twice

  Value() = default;  // null
  Value(bool value) : data_(value) {}
  Value(int value) : data_(std::int64_t{value}) {}
  Value(std::int64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(std::string text) : data_(std::move(text)) {}
  Value(List list);
  Value(Map map);

  bool is_null() const { return holds<std::monostate>(); }
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const std::int64_t* as_integer() const { return std::get_if<std::int64_t>(&data_); }
  const double* as_real() const { return std::get_if<double>(&data_); }
  const std::string* as_text() const { return std::get_if<std::string>(&data_); }
  const List* as_list() const { return std::get_if<List>(&data_); }
  const Map* as_map() const { return std::get_if<Map>(&data_); }

  /// The value of a key; nullptr when there is none, or when this is no map.
  const Value* find(std::string_view key) const;
  /// Replaces or appends.  Whatever was here before becomes a map.
  void set(std::string_view key, Value value);
  /// To a map, where the caller knows that the key is new, and to a list.
  void append(std::string key, Value value);
  void append(Value value);

  /// The line of the file that it came from, for messages; 0 when that is not known.
  int line() const { return line_; }
  Value& at_line(int line);

  /// How a message quotes it: "null", "a list", "a map", "\"text\"", at most 40 characters.
  std::string quoted() const;

  /// Compares what was said, not the line where it was said.
  friend bool operator==(const Value& a, const Value& b);

 private:
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(data_);
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data_;
  int line_ = 0;
};

struct Value::Item {
  std::string key;
  Value value;
  friend bool operator==(const Item& a, const Item& b) { return a.key == b.key && a.value == b.value; }
};

inline Value::Value(List list) : data_(std::move(list)) {}
inline Value::Value(Map map) : data_(std::move(map)) {}

/// `over` on top of `under`: maps are merged key by key, anything else replaces what was there.
Value merged(Value under, const Value& over);

}  // namespace tidemark
