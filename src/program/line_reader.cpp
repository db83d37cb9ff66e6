#include "program/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace tidemark {
namespace {

constexpr int kDeepestBrackets = 20;

bool is_one_of(char c, std::string_view others) { return others.find(c) != std::string_view::npos; }

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

std::optional<double> real_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Dtype> find_dtype(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Dtype::complex64); ++i)
    if (name == name_of(static_cast<Dtype>(i))) return static_cast<Dtype>(i);
  return std::nullopt;
}

void LineReader::fail(const std::string& what, const std::string& hint) const {
  throw Error(Errc::bad_file, what, where_, hint);
}

bool LineReader::at_end() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
  return rest_.empty();
}

bool LineReader::take(std::string_view token) {
  at_end();
  if (!rest_.starts_with(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

bool LineReader::take_word(std::string_view word) {
  at_end();
  if (!rest_.starts_with(word) || (rest_.size() > word.size() && is_letter_or_digit(rest_[word.size()]))) return false;
  if (rest_.size() > word.size() && is_one_of(rest_[word.size()], "_.")) return false;
  rest_.remove_prefix(word.size());
  return true;
}

void LineReader::expect(std::string_view token) {
  if (!take(token)) fail(fmt::format("expected \"{}\", found \"{}\"", token, rest_.substr(0, 40)));
}

void LineReader::expect_end() {
  if (!at_end()) fail(fmt::format("\"{}\" is not understood", rest_.substr(0, 40)));
}

std::string LineReader::name(std::string_view also) {
  at_end();
  const auto end =
      std::find_if_not(rest_.begin(), rest_.end(), [&](char c) { return is_letter_or_digit(c) || is_one_of(c, also); });
  std::string found(rest_.begin(), end);
  if (found.empty()) fail(fmt::format("expected a name, found \"{}\"", rest_.substr(0, 40)));
  rest_.remove_prefix(found.size());
  return found;
}

std::string_view LineReader::until(std::string_view ends) {
  at_end();
  int depth = 0;
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (depth == 0 && is_one_of(rest_[i], ends)) {
      const std::string_view found = rest_.substr(0, i);
      rest_.remove_prefix(i);
      return found;
    }
    if (is_one_of(rest_[i], "([")) ++depth;
    if (is_one_of(rest_[i], ")]")) --depth;
  }
  return std::exchange(rest_, {});
}

Expression LineReader::number(std::string_view ends, std::span<const std::string> symbols) {
  return Expression::parse(until(ends), symbols, where_);
}

TensorType LineReader::type(const Names& names) {
  TensorType type;
  const std::string dtype = name("_");
  type.of_weights = dtype == "T";
  if (!type.of_weights) {
    const std::optional<Dtype> found = find_dtype(dtype);
    if (!found) fail(fmt::format("no type {}", dtype));
    type.dtype = *found;
  }
  expect("[");
  while (!take("]")) {
    if (static_cast<int>(type.sizes.size()) == Dims::kMost) fail(fmt::format("more than {} dimensions", Dims::kMost));
    type.sizes.push_back(number(",]", names.symbols));
    if (!take(",") && !rest_.starts_with("]")) fail("a list without its end");
  }
  for (bool found = true; found;) {
    found = take_word("view") || take_word("unseen") || take_word("transient");
    if (take_word("cpu")) found = type.on_host = true;
  }
  return type;
}

bool LineReader::is_value() {
  at_end();
  return !rest_.empty() && is_one_of(rest_[0], "%$");
}

bool LineReader::is_attribute() {
  at_end();
  return rest_.starts_with("self.") || rest_.starts_with('@');
}

bool LineReader::is_argument() { return is_value() || is_attribute() || rest_.starts_with("None"); }

std::string LineReader::value_name() {
  if (!is_value()) fail(fmt::format("expected a value, found \"{}\"", rest_.substr(0, 40)));
  const char sign = rest_[0];
  rest_.remove_prefix(1);
  return sign + name("_.^");
}

Argument LineReader::quoted() {
  const std::size_t end = rest_.find('"');
  if (end == std::string_view::npos) fail("a text without its end");
  Argument text{.kind = Argument::Kind::text, .text = std::string(rest_.substr(0, end))};
  rest_.remove_prefix(end + 1);
  return text;
}

Argument LineReader::list(const Names& names, int depth) {
  Argument list{.kind = Argument::Kind::list};
  while (!take("]")) {
    list.items.push_back(argument(names, depth + 1));
    if (!take(",") && !rest_.starts_with("]")) fail("a list without its end");
  }
  return list;
}

Argument LineReader::slice(const Names& names, int depth) {
  Argument slice{.kind = Argument::Kind::slice};
  for (const char* end : {",", ",", ")"}) {
    slice.items.push_back(argument(names, depth + 1));
    expect(end);
  }
  return slice;
}

/// None, True, float32, T, 3, B*S, 1e-05, device, <Name>
Argument LineReader::word(const Names& names) {
  using Kind = Argument::Kind;
  for (const auto& [word, kind] : {std::pair("None", Kind::none), std::pair("data", Kind::text),
                                   std::pair("device", Kind::text), std::pair("cpu", Kind::text)})
    if (take_word(word)) return {.kind = kind, .text = word};
  if (take_word("True")) return {.kind = Kind::flag, .flag = true};
  if (take_word("False")) return {.kind = Kind::flag};
  if (take_word("T")) return {.kind = Kind::dtype, .flag = true};
  if (take("<")) return {.kind = Kind::text, .text = std::string(until(",)]"))};
  const std::string_view token = until(",)]");
  if (const auto dtype = find_dtype(token)) return {.kind = Kind::dtype, .dtype = *dtype};
  const bool is_real = token.find_first_of(".en") != std::string_view::npos;
  if (const auto real = is_real ? real_number(token) : std::nullopt) return {.kind = Kind::real, .real = *real};
  return {.kind = Kind::number, .number = Expression::parse(token, names.symbols, where_)};
}

Argument LineReader::argument(const Names& names, int depth) {
  using Kind = Argument::Kind;
  if (depth > kDeepestBrackets) fail("lists in too many lists");
  if (is_value()) return {.kind = Kind::value, .place = names.value(value_name())};
  if (is_attribute()) return {.kind = Kind::attribute, .place = names.attribute(name("_.@"))};
  if (take("\"")) return quoted();
  if (take("...")) return {.kind = Kind::ellipsis};
  if (take("slice(")) return slice(names, depth);
  if (take("dtype(")) {
    Argument type{.kind = Kind::dtype_of};
    type.items.push_back(argument(names, depth + 1));
    expect(")");
    return type;
  }
  if (take("[")) return list(names, depth);
  return word(names);
}

std::vector<NamedArgument> LineReader::arguments(const Names& names) {
  std::vector<NamedArgument> all;
  expect("(");
  while (!take(")")) {
    at_end();
    const auto end = std::find_if_not(rest_.begin(), rest_.end(),
                                      [](char c) { return is_letter_or_digit(c) || is_one_of(c, "_.^"); });
    NamedArgument one;
    if (end != rest_.begin() && end != rest_.end() && *end == '=') {
      one.name = std::string(rest_.begin(), end);
      rest_.remove_prefix(one.name.size() + 1);
    }
    one.value = argument(names);
    all.push_back(std::move(one));
    if (!take(",") && !rest_.starts_with(")")) fail("arguments without their end");
  }
  return all;
}

}  // namespace tidemark
