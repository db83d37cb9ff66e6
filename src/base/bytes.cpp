#include "base/bytes.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>

#include "base/error.h"

namespace tidemark {
namespace {

struct Unit {
  std::string_view name;  // lower case
  std::int64_t bytes;
};

constexpr std::array<Unit, 12> kUnits{{{"", 1},
                                       {"b", 1},
                                       {"kib", 1LL << 10},
                                       {"mib", 1LL << 20},
                                       {"gib", 1LL << 30},
                                       {"tib", 1LL << 40},
                                       {"pib", 1LL << 50},
                                       {"kb", 1'000LL},
                                       {"mb", 1'000'000LL},
                                       {"gb", 1'000'000'000LL},
                                       {"tb", 1'000'000'000'000LL},
                                       {"pb", 1'000'000'000'000'000LL}}};

[[noreturn]] void refuse(std::string_view text, std::string why) {
  throw Error(Errc::bad_value, fmt::format("\"{}\" is not a size: {}", text, why), {},
              "write a number and a unit, such as 80GiB (binary) or 400GB (decimal)");
}

std::string_view strip(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// A decimal number kept exactly: digits / 10^decimals.  Eighteen digits are all that 64 bits hold.
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;
  std::size_t length = 0;  // characters read
};

std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal number;
  bool seen_point = false;
  int seen_digits = 0;
  for (; number.length < text.size(); ++number.length) {
    const char c = text[number.length];
    if (c == '.' && !seen_point) {
      seen_point = true;
    } else if (c >= '0' && c <= '9') {
      if (number.digits > 99'999'999'999'999'999) return std::nullopt;
      number.digits = number.digits * 10 + (c - '0');
      number.decimals += seen_point ? 1 : 0;
      ++seen_digits;
    } else {
      break;
    }
  }
  return seen_digits ? std::optional(number) : std::nullopt;
}

std::int64_t unit_bytes(std::string_view text, std::string_view unit) {
  const std::string wanted = lower(strip(unit));
  for (const Unit& known : kUnits)
    if (known.name == wanted) return known.bytes;
  if (wanted.size() == 1 && std::string_view("kmgtp").find(wanted[0]) != std::string_view::npos) {
    const char big = static_cast<char>(std::toupper(static_cast<unsigned char>(wanted[0])));
    refuse(text, fmt::format("{0} could mean {0}B or {0}iB", big));
  }
  refuse(text, fmt::format("\"{}\" is not a unit", strip(unit)));
}

}  // namespace

std::string format_bytes(std::int64_t bytes) {
  if (bytes < 0) return "-" + format_bytes(bytes == INT64_MIN ? INT64_MAX : -bytes);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.5 would print as "1024": the next unit is what a reader expects there.
  while (value >= 1023.5 && unit + 1 < kNames.size()) value /= 1024, ++unit;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kNames[unit]);
}

std::string format_bytes_signed(std::int64_t bytes, bool plus) {
  return bytes >= 0 && plus ? "+" + format_bytes(bytes) : format_bytes(bytes);
}

std::string group_digits(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::int64_t parse_bytes(std::string_view text) {
  const std::string_view body = strip(text);
  if (!body.empty() && body[0] == '-') refuse(text, "it is negative");
  const auto number = read_decimal(body);
  if (!number) refuse(text, "it does not begin with a number of at most 18 digits");
  const std::int64_t unit = unit_bytes(text, body.substr(number->length));
  // Exact, and rounded to the nearest byte: a double would lose bytes above 2^53.
  __extension__ using Wide = __int128;
  Wide scale = 1;
  for (int i = 0; i < number->decimals; ++i) scale *= 10;
  const Wide bytes = (static_cast<Wide>(number->digits) * unit + scale / 2) / scale;
  if (bytes > INT64_MAX) refuse(text, "it is larger than any memory");
  return static_cast<std::int64_t>(bytes);
}

void fail_too_large(const char* operation) {
  throw Error(Errc::bad_value, std::string("a number of bytes is too large to ") + operation);
}

}  // namespace tidemark
