#include <gtest/gtest.h>
// rapidcheck's header wants gtest first.
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/bytes.h"

namespace tidemark {
namespace {

RC_GTEST_PROP(Bytes, PlainNumbersComeBackExactly, ()) {
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, 100'000'000'000'000'000);
  RC_ASSERT(parse_bytes(std::to_string(bytes)) == bytes);
  RC_ASSERT(parse_bytes(std::to_string(bytes) + " B") == bytes);
}

RC_GTEST_PROP(Bytes, WhatIsPrintedReadsBackWithinItsPrecision, ()) {
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, 1LL << 59);
  const std::int64_t back = parse_bytes(format_bytes(bytes));
  RC_ASSERT(std::abs(static_cast<double>(back - bytes)) <= 0.006 * static_cast<double>(bytes));
}

RC_GTEST_PROP(Bytes, MorePrintsNoLess, ()) {
  const auto a = *rc::gen::inRange<std::int64_t>(0, 1LL << 59), b = *rc::gen::inRange<std::int64_t>(0, 1LL << 59);
  RC_PRE(a <= b);
  RC_ASSERT(parse_bytes(format_bytes(a)) <= parse_bytes(format_bytes(b)));
}

RC_GTEST_PROP(Bytes, GroupedDigitsAreTheSameDigits, (std::int64_t number)) {
  std::string text = group_digits(number);
  std::erase(text, ',');
  RC_ASSERT(text == std::to_string(number));
}

}  // namespace
}  // namespace tidemark
