// Takes the keys of a map one by one, strictly: a missing key, a wrong type and a key that nobody took are errors that
// say where, as in "config.json: text_config.hidden_size".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace tidemark {

/// Keys that may stand in a map and are passed over.  One that ends in `*` stands for all that begin so.
using KeyNames = std::vector<std::string_view>;
bool covers(const KeyNames& names, std::string_view key);

/// Where a value stands: the file, and the keys that lead to it.
struct ValuePath {
  std::string file, keys;

  ValuePath(std::string of_file = {}, std::string at_keys = {}) : file(std::move(of_file)), keys(std::move(at_keys)) {}
  ValuePath(const char* of_file) : file(of_file) {}

  ValuePath operator/(std::string_view key) const;
  ValuePath operator[](std::size_t index) const;
  /// "config.json: line 3: text_config.hidden_size"; parts that are not known are left out.
  std::string text(int line = 0) const;
};

/// Throw Error{bad_value} unless the value is of that type.  A whole number is a real one too.
bool to_bool(const Value& value, const ValuePath& path);
std::int64_t to_integer(const Value& value, const ValuePath& path);
double to_real(const Value& value, const ValuePath& path);
const std::string& to_text(const Value& value, const ValuePath& path);
const Value::List& to_list(const Value& value, const ValuePath& path);

/// Throws Error{bad_value}: "expected a whole number, found \"x\"".
[[noreturn]] void fail_expected(std::string_view expected, const Value& found, const ValuePath& path);

class ValueReader {
 public:
  /// The map must outlive the reader.  Throws Error{bad_value} when it is none.
  ValueReader(const Value& map, ValuePath path);

  /// Marks the key as known; nullptr when it is absent.
  const Value* find(std::string_view key);
  /// As find, and throws Error{bad_value} when it is absent, naming a key that is nearly it.
  const Value& require(std::string_view key);

  bool boolean(std::string_view key) { return to_bool(require(key), path_ / key); }
  std::int64_t integer(std::string_view key) { return to_integer(require(key), path_ / key); }
  double real(std::string_view key) { return to_real(require(key), path_ / key); }
  const std::string& text(std::string_view key) { return to_text(require(key), path_ / key); }
  const Value::List& list(std::string_view key) { return to_list(require(key), path_ / key); }
  ValueReader map(std::string_view key) { return {require(key), path_ / key}; }

  const ValuePath& path() const { return path_; }

  /// Keys of the map that were not asked for, in the order of the file.
  std::vector<std::string> unread() const;
  /// Throws Error{unknown_name} for the first of them that is not harmless, naming the nearest key that was asked for.
  void finish(const KeyNames& harmless = {}) const;

 private:
  const Value* value_;
  ValuePath path_;
  std::vector<std::string> known_;
};

}  // namespace tidemark
