#include "io/training_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/check.h"
#include "base/error.h"
#include "base/number.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

bool is_auto(const Value& value) { return value.as_text() && lower(*value.as_text()) == "auto"; }

/// "a, b" and "['a', 'b']"
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string part = trimmed(text.substr(0, end));
    if (part.size() > 1 && (part[0] == '"' || part[0] == '\'') && part.back() == part[0])
      part = part.substr(1, part.size() - 2);
    if (!part.empty()) parts.push_back(std::move(part));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The value that turns off a key of such a value.
std::string off_of(const Value& value) {
  if (lenient_boolean(value)) return "false";
  return lenient_real(value) ? "0" : "none of it";
}

}  // namespace

// YAML 1.1, which PyYAML reads, has yes and on for true; trainers take 1 for it too.
std::optional<bool> lenient_boolean(const Value& value) {
  if (const bool* truth = value.as_bool()) return *truth;
  if (const std::int64_t* number = value.as_integer(); number && (*number == 0 || *number == 1)) return *number == 1;
  if (!value.as_text()) return std::nullopt;
  const std::string text = lower(trimmed(*value.as_text()));
  if (text == "true" || text == "yes" || text == "on" || text == "1" || text == "y") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0" || text == "n") return false;
  return std::nullopt;
}

std::optional<double> lenient_real(const Value& value) {
  if (const double* number = value.as_real()) return *number;
  if (const std::int64_t* number = value.as_integer()) return static_cast<double>(*number);
  if (!value.as_text()) return std::nullopt;
  std::string text = trimmed(*value.as_text());
  std::erase(text, '_');
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> lenient_integer(const Value& value) {
  if (const std::int64_t* number = value.as_integer()) return *number;
  const auto real = lenient_real(value);
  constexpr double kExact = 9007199254740992;  // 2^53
  if (!real || std::floor(*real) != *real || std::fabs(*real) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<std::string> lenient_text(const Value& value) {
  if (const std::string* text = value.as_text()) return trimmed(*text);
  if (const bool* truth = value.as_bool()) return *truth ? "true" : "false";
  if (const std::int64_t* number = value.as_integer()) return fmt::format("{}", *number);
  if (const double* number = value.as_real()) return fmt::format("{}", *number);
  return std::nullopt;
}

bool means_off(const Value& value) {
  if (value.is_null()) return true;
  if (const Value::List* list = value.as_list()) return list->empty();
  if (const Value::Map* map = value.as_map()) return map->empty();
  if (const auto number = lenient_real(value)) return *number == 0;
  if (const auto truth = lenient_boolean(value)) return !*truth;
  const std::string text = lower(trimmed(*value.as_text()));
  return text.empty() || text == "none" || text == "null" || text == "disabled";
}

TrainingKeys::TrainingKeys(const Value& map, ValuePath path, Refusals& refusals)
    : map_(Value::Map()), path_(std::move(path)), refusals_(&refusals) {
  if (!map.as_map()) fail_expected("a map", map, path_);
  for (const Value::Item& item : *map.as_map()) {
    std::string key = item.key;
    std::replace(key.begin(), key.end(), '-', '_');
    map_.set(key, item.value);
  }
}

const Value* TrainingKeys::find(std::string_view key) {
  read_.emplace(key);
  const Value* found = map_.find(key);
  return found && !found->is_null() ? found : nullptr;
}

const Value* TrainingKeys::find_any(std::initializer_list<std::string_view> keys) {
  const Value* first = nullptr;
  for (const std::string_view key : keys)
    if (const Value* found = find(key); found && !first) first = found;
  return first;
}

std::optional<bool> TrainingKeys::boolean(std::string_view key) {
  const Value* found = find(key);
  if (!found || is_auto(*found)) return std::nullopt;
  const auto truth = lenient_boolean(*found);
  if (!truth) fail_expected("true or false", *found, at(key));
  return truth;
}

std::optional<std::int64_t> TrainingKeys::integer(std::string_view key) {
  const Value* found = find(key);
  if (!found || is_auto(*found)) return std::nullopt;
  const auto number = lenient_integer(*found);
  if (!number) fail_expected("a whole number", *found, at(key));
  return number;
}

std::optional<double> TrainingKeys::real(std::string_view key) {
  const Value* found = find(key);
  if (!found || is_auto(*found)) return std::nullopt;
  const auto number = lenient_real(*found);
  if (!number) fail_expected("a number", *found, at(key));
  return number;
}

std::optional<std::string> TrainingKeys::text(std::string_view key) {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  const auto text = lenient_text(*found);
  if (!text) fail_expected("a text", *found, at(key));
  return text->empty() ? std::nullopt : text;
}

std::vector<std::string> TrainingKeys::list(std::string_view key) {
  const Value* found = find(key);
  if (!found) return {};
  if (!found->as_list()) return split(text(key).value_or(""));
  std::vector<std::string> texts;
  for (const Value& value : *found->as_list()) {
    const auto text = lenient_text(value);
    if (!text) fail_expected("a list of texts", value, at(key));
    texts.push_back(*text);
  }
  return texts;
}

TrainingKeys TrainingKeys::map(std::string_view key) {
  const Value* found = find(key);
  const std::string* text = found ? found->as_text() : nullptr;  // as a command line has it: '{"use_reentrant": false}'
  if (text && text->starts_with('{')) return {value_from_python_json(*text, at(key).text()), at(key), *refusals_};
  return {found ? *found : Value(Value::Map()), at(key), *refusals_};
}

void TrainingKeys::must_be_off(std::initializer_list<std::string_view> keys, std::optional<Takes> takes) {
  for (const std::string_view key : keys)
    if (const Value* found = find(key); found && !means_off(*found))
      refuse(key, {}, takes ? Nearest{off_of(*found), *takes} : Nearest{});
}

void TrainingKeys::must_be(std::string_view key, std::initializer_list<std::string_view> values,
                           std::optional<Takes> takes) {
  const Value* found = find(key);
  if (!found || means_off(*found)) return;
  const auto text = lenient_text(*found);
  if (!text ||
      std::none_of(values.begin(), values.end(), [&](std::string_view value) { return lower(value) == lower(*text); }))
    refuse(key, {}, takes ? Nearest{std::string(*values.begin()), *takes} : Nearest{});
}

void TrainingKeys::refuse(std::string_view key, const std::string& why, Nearest nearest, const std::string& hint) {
  const Value* found = map_.find(key);
  refusals_->add({.where = at(key).text(found ? found->line() : 0),
                  .why = why.empty()
                             ? fmt::format("{} decides memory, and is not predicted", found ? found->quoted() : "it")
                             : why,
                  .hint = hint,
                  .nearest = std::move(nearest)});
}

void TrainingKeys::refuse_now(std::string_view key, const std::string& why, const std::string& hint) {
  refuse(key, why, {}, hint);
  refusals_->check(path_.file);
  throw InternalError("a refusal was not thrown");
}

void TrainingKeys::pass_over(const KeyNames& names) {
  for (const Value::Item& item : *map_.as_map())
    if (covers(names, item.key)) read_.insert(item.key);
}

std::vector<std::string> TrainingKeys::unread() const {
  std::vector<std::string> keys;
  for (const Value::Item& item : *map_.as_map())
    if (!read_.contains(item.key)) keys.push_back(item.key);
  return keys;
}

}  // namespace tidemark::io
