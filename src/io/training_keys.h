// Takes the keys of a trainer's own file one by one, leniently: dashes for underscores, numbers and booleans as
// strings, lists as strings.  Keys that decide memory and are not modelled are collected with their nearest value.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/value_reader.h"
#include "io/training_refusals.h"

namespace tidemark::io {

class TrainingKeys {
 public:
  /// A copy of the map, its keys with underscores.  Throws Error{bad_value} when it is none.  `refusals` outlives it.
  TrainingKeys(const Value& map, ValuePath path, Refusals& refusals);

  /// The value, or nullptr where it is absent or null.  The key counts as read.
  const Value* find(std::string_view key);
  /// The first that is there, of names that a key had in other releases.
  const Value* find_any(std::initializer_list<std::string_view> keys);

  // The value, or nothing where it is absent, null or "auto".  They throw Error{bad_value} for a value of another kind.
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);
  std::optional<double> real(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::vector<std::string> list(std::string_view key);
  /// The map, empty where it is absent.
  TrainingKeys map(std::string_view key);

  /// What decides memory and is not modelled: null, false, 0, "", "none", "no" and an empty list or map are right, and
  /// the values that are named.  Refuses any other; `takes` says how training without it compares, if it is nearest.
  void must_be_off(std::initializer_list<std::string_view> keys, std::optional<Takes> takes = {});
  void must_be(std::string_view key, std::initializer_list<std::string_view> values, std::optional<Takes> takes = {});
  /// Notes that the key's value is not predicted.  The caller goes on with the nearest value.
  void refuse(std::string_view key, const std::string& why = {}, Nearest nearest = {}, const std::string& hint = {});
  /// The same of what leaves nothing to go on with: throws Error{unsupported} for all that was refused so far.
  [[noreturn]] void refuse_now(std::string_view key, const std::string& why = {}, const std::string& hint = {});
  Refusals& refusals() const { return *refusals_; }

  /// Keys that do not decide memory.  One that ends in `*` stands for all that begin so.
  void pass_over(const KeyNames& names);
  /// Keys that nobody asked for, in the order of the file.
  std::vector<std::string> unread() const;

  const ValuePath& path() const { return path_; }

 private:
  ValuePath at(std::string_view key) const { return path_ / key; }

  Value map_;
  ValuePath path_;
  Refusals* refusals_;
  std::set<std::string, std::less<>> read_;
};

// Of one value, as people write it.  Nothing where it cannot be read so.
std::optional<bool> lenient_boolean(const Value& value);
std::optional<std::int64_t> lenient_integer(const Value& value);
std::optional<double> lenient_real(const Value& value);
/// A number or a truth as it would be written.
std::optional<std::string> lenient_text(const Value& value);
bool means_off(const Value& value);

}  // namespace tidemark::io
