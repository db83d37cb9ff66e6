// Byte counts: reading what people write, printing what people read, and arithmetic that cannot wrap.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

/// A size that sources, drivers or versions give differently.
struct BytesRange {
  std::int64_t low = 0, typical = 0, high = 0;

  BytesRange& operator+=(const BytesRange& other);
  bool operator==(const BytesRange&) const = default;
};

/// Three significant digits in binary units: "512 B", "2.00 GiB", "61.3 GiB", "141 GiB".
std::string format_bytes(std::int64_t bytes);

/// As format_bytes, with a sign in front when negative or when `plus` asks for one.
std::string format_bytes_signed(std::int64_t bytes, bool plus = true);

/// With thousands separators, for the exact figure beside the rounded one: "65,823,318,016".
std::string group_digits(std::int64_t number);

/// Reads "400GB" (decimal), "80GiB" (binary), "61.3 GiB", "512", "512 B"; letter case does not matter.
/// Throws Error{bad_value} for anything else, for a bare "80G" (which of the two?), and past 2^63.
std::int64_t parse_bytes(std::string_view text);

[[noreturn]] void fail_too_large(const char* operation);

/// Throw Error{bad_value} instead of wrapping around.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    fail_too_large("add up");
  return sum;
}
inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    fail_too_large("multiply");
  return product;
}

inline BytesRange& BytesRange::operator+=(const BytesRange& other) {
  low = checked_add(low, other.low), typical = checked_add(typical, other.typical);
  high = checked_add(high, other.high);
  return *this;
}

}  // namespace tidemark
