#include "io/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/did_you_mean.h"
#include "base/error.h"

namespace tidemark::io {
namespace {

// Deeper nesting is no report and no card, and would exhaust the stack of the recursive destructor.
constexpr int kMaxDepth = 32;

std::string describe(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth) throw Error(Errc::bad_file, "it is nested too deeply", where);
    return true;
  };
  try {
    return Json::parse(text, limit_depth);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw Error(Errc::bad_file, fmt::format("it is not JSON: mistake in line {}", line), where);
  } catch (const Json::exception& error) {  // a number that no type can hold
    throw Error(Errc::bad_file, "it is not JSON that can be read", where);
  }
}

ObjectReader::ObjectReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object())
    throw Error(Errc::bad_file, fmt::format("expected an object, found {}", describe(object)), where_);
}

std::string ObjectReader::path(const char* key) const {
  return where_.empty() ? key : fmt::format("{}: {}", where_, key);
}

void ObjectReader::fail(const char* key, const std::string& expected, const Json& found) const {
  throw Error(Errc::bad_file, fmt::format("expected {}, found {}", expected, describe(found)), path(key));
}

bool ObjectReader::has(const char* key) {
  known_.emplace_back(key);
  return object_.contains(key);
}

const Json& ObjectReader::any(const char* key) {
  if (!has(key)) {
    // A key that is nearly the missing one is the likeliest reason.
    std::vector<std::string> present;
    for (const auto& item : object_.items()) present.push_back(item.key());
    const auto nearest = nearest_name(key, present);
    throw Error(Errc::bad_file, fmt::format("\"{}\" is missing", key), where_,
                nearest ? fmt::format("there is \"{}\"", *nearest) : std::string());
  }
  return object_.at(key);
}

const Json* ObjectReader::optional(const char* key) {
  if (!has(key) || object_.at(key).is_null()) return nullptr;
  return &object_.at(key);
}

std::string ObjectReader::text(const char* key) {
  const Json& value = any(key);
  if (!value.is_string()) fail(key, "a text", value);
  return value.get<std::string>();
}

void ObjectReader::schema(std::string_view expected) {
  if (const std::string found = text("schema"); found != expected)
    throw Error(Errc::bad_file, fmt::format("its schema is \"{}\"", found), where_,
                fmt::format("expected {}", expected));
}

std::int64_t ObjectReader::number(const char* key) { return whole_number(any(key), path(key)); }

double ObjectReader::real(const char* key) {
  const Json& value = any(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) fail(key, "a number", value);
  return value.get<double>();
}

bool ObjectReader::boolean(const char* key) {
  const Json& value = any(key);
  if (!value.is_boolean()) fail(key, "true or false", value);
  return value.get<bool>();
}

const Json& ObjectReader::array(const char* key) {
  const Json& value = any(key);
  if (!value.is_array()) fail(key, "a list", value);
  return value;
}

ObjectReader ObjectReader::object(const char* key) { return {any(key), path(key)}; }

void ObjectReader::finish() const {
  for (const auto& item : object_.items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) != known_.end()) continue;
    throw Error(Errc::bad_file, fmt::format("\"{}\" is not a known key", item.key()), where_,
                did_you_mean(item.key(), known_));
  }
}

std::int64_t whole_number(const Json& value, const std::string& where) {
  const bool fits =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (!fits || value.get<std::int64_t>() < 0)
    throw Error(Errc::bad_file, fmt::format("expected a whole number, found {}", describe(value)), where);
  return value.get<std::int64_t>();
}

}  // namespace tidemark::io
