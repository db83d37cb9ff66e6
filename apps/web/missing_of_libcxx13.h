// What the C++ library of Debian 12's emscripten (libc++ 13) lacks of C++20, as the core uses it.  Included before
// every file of that build, and of no other; with a newer library it is to be deleted.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>

namespace std {  // NOLINT(cert-dcl58-cpp): the names are to be found where the standard has them

inline from_chars_result from_chars(const char* first, const char* last, double& number) {
  // strtod needs an end, and takes more: signs, spaces before it, hexadecimal digits.  musl's knows no other locale
  // than C.
  const string text(first, find_if(first, last, [](char c) { return c == 'x' || c == 'X'; }));
  if (text.empty() || *first == '+' || (*first >= '\t' && *first <= '\r') || *first == ' ')
    return {first, errc::invalid_argument};
  char* end = nullptr;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* const past = first + (end - text.c_str());
  if (read == HUGE_VAL || read == -HUGE_VAL) return {past, errc::result_out_of_range};
  number = read;
  return {past, errc()};
}

template <class To, class From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

template <class Array>
unique_ptr<Array> make_unique_for_overwrite(size_t length) {
  return unique_ptr<Array>(new remove_extent_t<Array>[length]);
}

class jthread {
 public:
  template <class Work>
  explicit jthread(Work work) : thread_(move(work)) {}
  jthread(jthread&&) = default;
  ~jthread() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  thread thread_;
};

namespace regex_constants {
// libstdc++'s flag for a matcher that takes no exponential time; libc++'s matcher gives up by itself
// (error_complexity).
inline constexpr syntax_option_type __polynomial{};
}  // namespace regex_constants

namespace ranges {

template <class Range, class T, class Projection = identity>
auto find(Range&& range, const T& wanted, Projection projection = {}) {
  return find_if(std::begin(range), std::end(range),
                 [&](const auto& one) { return invoke(projection, one) == wanted; });
}
template <class Range, class Predicate>
auto find_if(Range&& range, Predicate is_it) {
  return std::find_if(std::begin(range), std::end(range), [&](auto&& one) { return invoke(is_it, one); });
}
template <class Range, class T>
auto count(Range&& range, const T& wanted) {
  return std::count(std::begin(range), std::end(range), wanted);
}
template <class Range, class Predicate>
bool any_of(Range&& range, Predicate is_it) {
  return std::any_of(std::begin(range), std::end(range), [&](auto&& one) { return invoke(is_it, one); });
}
template <class Range, class Predicate>
bool all_of(Range&& range, Predicate is_it) {
  return std::all_of(std::begin(range), std::end(range), [&](auto&& one) { return invoke(is_it, one); });
}
template <class Range, class Predicate>
bool none_of(Range&& range, Predicate is_it) {
  return !ranges::any_of(range, is_it);
}
template <class Range>
void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
void sort(Range&& range, Compare is_before = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range),
            [&](const auto& a, const auto& b) { return is_before(invoke(projection, a), invoke(projection, b)); });
}
template <class Range, class Compare = std::less<>, class Projection = identity>
void stable_sort(Range&& range, Compare is_before = {}, Projection projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return is_before(invoke(projection, a), invoke(projection, b));
  });
}

}  // namespace ranges
}  // namespace std
