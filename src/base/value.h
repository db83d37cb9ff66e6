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

  Value();  // null
  Value(bool value);
  Value(int value);
  Value(std::int64_t value);
  Value(double value);
  Value(const char* text);
  Value(std::string_view text);
  Value(std::string text);
  Value(List list);
  Value(Map map);
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  bool is_null() const;
  /// The value of that type, or nullptr when it is of another.
  const bool* as_bool() const;
  const std::int64_t* as_integer() const;
  const double* as_real() const;
  const std::string* as_text() const;
  const List* as_list() const;
  const Map* as_map() const;

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
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data_;
  int line_ = 0;
};

struct Value::Item {
  std::string key;
  Value value;
  friend bool operator==(const Item& a, const Item& b) { return a.key == b.key && a.value == b.value; }
};

/// `over` on top of `under`: maps are merged key by key, anything else replaces what was there.
Value merged(Value under, const Value& over);

}  // namespace tidemark
