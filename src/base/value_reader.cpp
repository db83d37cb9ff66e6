#include "base/value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/did_you_mean.h"
#include "base/error.h"

namespace tidemark {

bool covers(const KeyNames& names, std::string_view key) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return name.ends_with('*') ? key.starts_with(name.substr(0, name.size() - 1)) : key == name;
  });
}

ValuePath ValuePath::operator/(std::string_view key) const {
  return {file, keys.empty() ? std::string(key) : fmt::format("{}.{}", keys, key)};
}

ValuePath ValuePath::operator[](std::size_t index) const { return {file, fmt::format("{}[{}]", keys, index)}; }

std::string ValuePath::text(int line) const {
  std::string result = file;
  const auto add = [&](const std::string& part) { result += result.empty() ? part : ": " + part; };
  if (line > 0) add(fmt::format("line {}", line));
  if (!keys.empty()) add(keys);
  return result;
}

void fail_expected(std::string_view expected, const Value& found, const ValuePath& path) {
  throw Error(Errc::bad_value, fmt::format("expected {}, found {}", expected, found.quoted()), path.text(found.line()));
}

bool to_bool(const Value& value, const ValuePath& path) {
  if (const bool* found = value.as_bool()) return *found;
  fail_expected("true or false", value, path);
}

std::int64_t to_integer(const Value& value, const ValuePath& path) {
  if (const std::int64_t* found = value.as_integer()) return *found;
  fail_expected("a whole number", value, path);
}

double to_real(const Value& value, const ValuePath& path) {
  if (const std::int64_t* found = value.as_integer()) return static_cast<double>(*found);
  const double* found = value.as_real();
  if (!found || !std::isfinite(*found)) fail_expected("a number", value, path);
  return *found;
}

const std::string& to_text(const Value& value, const ValuePath& path) {
  if (const std::string* found = value.as_text()) return *found;
  if (!value.as_integer() && !value.as_real()) fail_expected("a text", value, path);
  throw Error(Errc::bad_value, fmt::format("expected a text, found the number {}", value.quoted()),
              path.text(value.line()), "write it in quotes");
}

const Value::List& to_list(const Value& value, const ValuePath& path) {
  if (const Value::List* found = value.as_list()) return *found;
  fail_expected("a list", value, path);
}

ValueReader::ValueReader(const Value& map, ValuePath path) : value_(&map), path_(std::move(path)) {
  if (!map.as_map()) fail_expected("a map", map, path_);
}

const Value* ValueReader::find(std::string_view key) {
  known_.emplace_back(key);
  return value_->find(key);
}

const Value& ValueReader::require(std::string_view key) {
  if (const Value* found = find(key)) return *found;
  // A key that is nearly the missing one is the likeliest reason.
  std::vector<std::string> present;
  for (const Value::Item& item : *value_->as_map()) present.push_back(item.key);
  const auto nearest = nearest_name(key, present);
  throw Error(Errc::bad_value, fmt::format("\"{}\" is missing", key), path_.text(value_->line()),
              nearest ? fmt::format("there is \"{}\"", *nearest) : std::string());
}

std::vector<std::string> ValueReader::unread() const {
  std::vector<std::string> keys;
  for (const Value::Item& item : *value_->as_map())
    if (std::find(known_.begin(), known_.end(), item.key) == known_.end()) keys.push_back(item.key);
  return keys;
}

void ValueReader::finish(const KeyNames& harmless) const {
  for (const std::string& key : unread()) {
    if (covers(harmless, key)) continue;
    throw Error(Errc::unknown_name, fmt::format("\"{}\" is not a known key", key),
                path_.text(value_->find(key)->line()), did_you_mean(key, known_));
  }
}

}  // namespace tidemark
