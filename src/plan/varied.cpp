#include "plan/varied.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "base/number.h"

namespace tidemark::vary {
namespace {

constexpr std::size_t kMostValues = 1'000'000;  // of one name
constexpr std::size_t kMostLines = 4096;        // of the other names together: each takes a search of its own
constexpr const char* kForms = "write 1..64, 512..8192:512 (steps), 1..64*2 (factors) or a list such as 1,2,4";

[[noreturn]] void bad(const std::string& name, const std::string& what, const std::string& hint = kForms) {
  throw Error(Errc::bad_value, fmt::format("{}: {}", name, what), "--vary", hint);
}

bool is_name(std::string_view text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), is_word);
}

std::int64_t whole_number(const std::string& name, std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < 0) bad(name, fmt::format("\"{}\" is not a whole number", text));
  return *number;
}

/// Of FIRST..LAST:STEP and FIRST..LAST*FACTOR.
std::vector<std::string> range(const std::string& name, std::string_view text) {
  const std::size_t dots = text.find(".."), mark = text.find_first_of(":*", dots);
  const std::string_view last_text = text.substr(dots + 2, mark == text.npos ? mark : mark - dots - 2);
  const std::int64_t first = whole_number(name, text.substr(0, dots)), last = whole_number(name, last_text);
  const std::int64_t by = mark == text.npos ? 1 : whole_number(name, text.substr(mark + 1));
  const bool is_factor = mark != text.npos && text[mark] == '*';
  if (first > last) bad(name, fmt::format("there is no value from {} to {}", first, last));
  if (by < (is_factor ? 2 : 1))
    bad(name, fmt::format("{} is not a {}", by, is_factor ? "factor from 2" : "step from 1"));
  if (is_factor && first == 0) bad(name, "factors of 0 are 0");
  std::vector<std::string> values;
  for (std::int64_t value = first;;) {
    values.push_back(fmt::format("{}", value));
    if (values.size() > kMostValues)
      bad(name, fmt::format("more than {} values", kMostValues),
          "a step (1..5000000:1000) or a factor makes them fewer");
    if (is_factor ? value > last / by : value > last - by) return values;
    value = is_factor ? value * by : value + by;
  }
}

std::vector<std::string> list(const std::string& name, std::string_view text) {
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.emplace_back(text.substr(begin, end - begin));
    if (values.back().empty()) bad(name, "a value is missing");
    if (std::count(values.begin(), values.end(), values.back()) > 1)
      bad(name, fmt::format("{} is there twice", values.back()), "each value stands once");
    begin = end + 1;
  }
  return values;
}

/// Throws for numbers in no order.  Where they fall, or are words, their order is all that is known.
std::vector<double> sizes_of(const std::string& name, const std::vector<std::string>& values) {
  std::vector<double> sizes, places;
  for (const std::string& value : values) {
    places.push_back(static_cast<double>(places.size() + 1));
    if (const auto number = parse_number<double>(value); number && std::isfinite(*number)) sizes.push_back(*number);
  }
  if (sizes.size() < values.size()) return places;
  const auto all_are = [&](auto in_order) {  // each and the one after it
    return std::adjacent_find(sizes.begin(), sizes.end(), std::not_fn(in_order)) == sizes.end();
  };
  if (all_are(std::less_equal<>())) return sizes;
  if (all_are(std::greater_equal<>())) return places;
  bad(name, "the numbers neither rise nor fall", "a list stands in the order in which memory grows");
}

/// {NAME} that stands at `at`, or nothing.
std::optional<std::string> place_at(const std::string& word, std::size_t at) {
  if (at >= word.size() || word[at] != '{') return std::nullopt;
  const std::size_t end = word.find('}', at);
  if (end == word.npos || !is_name(std::string_view(word).substr(at + 1, end - at - 1))) return std::nullopt;
  return word.substr(at + 1, end - at - 1);
}

std::optional<std::size_t> index_of(const std::vector<Varied>& varied, const std::string& name) {
  for (std::size_t i = 0; i < varied.size(); ++i)
    if (varied[i].name == name) return i;
  return std::nullopt;
}

/// The name that `place` was probably meant to be: a letter differs, or a third of them.
std::optional<std::string> meant(const std::vector<Varied>& varied, const std::string& place) {
  for (const Varied& one : varied) {
    const std::size_t letters = std::min(one.name.size(), place.size());
    if (edit_distance(place, one.name) <= static_cast<int>(std::max<std::size_t>(1, letters / 3))) return one.name;
  }
  return std::nullopt;
}

/// Calls on_name(index) for the text that a name has; what else stands in `word` is left as it is.
std::string replaced(const std::string& word, const std::vector<Varied>& varied,
                     const std::function<std::string(std::size_t)>& on_name) {
  std::string result;
  for (std::size_t at = 0; at < word.size();) {
    const auto inner = word[at] == '{' ? place_at(word, at + 1) : std::nullopt;
    const bool is_escaped = inner && meant(varied, *inner) && word.substr(at + inner->size() + 2, 2) == "}}";
    const auto place = is_escaped ? std::nullopt : place_at(word, at);
    const auto index = place ? index_of(varied, *place) : std::nullopt;
    if (is_escaped) {
      result += "{" + *inner + "}", at += inner->size() + 4;
    } else if (index) {
      result += on_name(*index), at += place->size() + 2;
    } else if (const auto name = place ? meant(varied, *place) : std::nullopt) {
      throw Error(Errc::bad_value, fmt::format("{{{}}} is not varied", *place), "tidemark plan",
                  fmt::format("did you mean {{{}}}? {{{{{}}}}} stands for {{{}}} itself", *name, *place, *place));
    } else {
      result += word[at++];
    }
  }
  return result;
}

}  // namespace

Varied read_varied(std::string_view text) {
  const std::size_t equals = text.find('=');
  Varied varied{std::string(text.substr(0, equals)), {}, {}};
  if (equals == text.npos || !is_name(varied.name))
    throw Error(Errc::bad_value, fmt::format("\"{}\" is not NAME=VALUES", text), "--vary", "such as batch=1..64");
  const std::string_view values = text.substr(equals + 1);
  const bool is_range = values.find("..") != values.npos;
  if (is_range && values.find(',') != values.npos) bad(varied.name, "it is either a range or a list");
  varied.values = is_range ? range(varied.name, values) : list(varied.name, values);
  varied.sizes = sizes_of(varied.name, varied.values);
  return varied;
}

std::vector<Varied> read_all_varied(const std::vector<std::string>& texts) {
  std::vector<Varied> all;
  for (const std::string& text : texts) {
    Varied varied = read_varied(text);
    if (index_of(all, varied.name)) bad(varied.name, "it is varied twice", "one --vary has all its values");
    all.push_back(std::move(varied));
  }
  if (all.empty())
    throw Error(Errc::usage, "nothing is varied", "tidemark plan",
                "such as --vary batch=1..64, where {batch} is in the command");
  std::size_t longest = 0, lines = 1;
  for (const Varied& one : all) longest = std::max(longest, one.values.size());
  bool left_out = false;  // the one that is searched along
  for (const Varied& one : all) {
    if (!left_out && one.values.size() == longest)
      left_out = true;
    else if ((lines *= one.values.size()) > kMostLines)
      bad(one.name, fmt::format("more than {} combinations with the other names", kMostLines),
          "fewer values of all names but one: steps or factors");
  }
  return all;
}

std::vector<std::string> filled_in(const std::vector<std::string>& command, const std::vector<Varied>& varied,
                                   const Point& point) {
  std::vector<std::string> filled;
  for (const std::string& word : command)
    filled.push_back(replaced(word, varied, [&](std::size_t i) { return varied[i].values[point[i]]; }));
  return filled;
}

void check_places(const std::vector<std::string>& command, const std::vector<Varied>& varied) {
  std::set<std::size_t> used;
  for (const std::string& word : command)
    replaced(word, varied, [&](std::size_t i) { return used.insert(i), std::string(); });
  for (std::size_t i = 0; i < varied.size(); ++i)
    if (!used.contains(i))
      throw Error(Errc::bad_value,
                  fmt::format("{{{}}} is nowhere in the command, so every run would be the same", varied[i].name),
                  "tidemark plan",
                  fmt::format("such as: -- python train.py --{} {{{}}}", varied[i].name, varied[i].name));
}

std::string text_of(const std::vector<Varied>& varied, const Point& point) {
  std::string text;
  for (std::size_t i = 0; i < varied.size(); ++i)
    text += fmt::format("{}{}={}", i ? " " : "", varied[i].name, varied[i].values[point[i]]);
  return text;
}

}  // namespace tidemark::vary
