#include "lz4.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark {
namespace {

std::vector<std::byte> bytes(const std::string& text) {
  std::vector<std::byte> result;
  for (const char c : text) result.push_back(static_cast<std::byte>(c));
  return result;
}

// token 3|4+1: "abc", then 5 bytes from 3 back, which overlap what they make; then the last literals.
const std::string kBlock = std::string("\x31") + "abc" + std::string("\x03\x00", 2) + "\x20" + "yz";

TEST(Lz4, CopiesOverlapWhatTheyMake) { EXPECT_EQ(lz4_decode(bytes(kBlock), 10), bytes("abcabcabyz")); }

TEST(Lz4, LengthsOf15GoOn) {
  const std::string letters(15 + 255 + 2, 'x');
  EXPECT_EQ(lz4_decode(bytes(std::string("\xf0\xff\x02", 3) + letters), letters.size()), bytes(letters));
}

TEST(Lz4, WhatFollowsTheLastByteIsPadding) {
  EXPECT_EQ(lz4_decode(bytes(kBlock + std::string(5, '\0')), 10), bytes("abcabcabyz"));
}

TEST(Lz4, DamageIsNoCrash) {
  EXPECT_TRUE(lz4_decode(bytes(kBlock.substr(0, 5)), 10).empty());  // ends in an offset
  EXPECT_TRUE(lz4_decode(bytes(std::string("\x31") + "abc" + std::string("\x09\x00", 2)), 8)
                  .empty());                                // reaches before the beginning
  EXPECT_TRUE(lz4_decode(bytes(kBlock), 9).empty());        // longer than it says
  EXPECT_TRUE(lz4_decode(bytes("\xf0\xff"), 400).empty());  // a length that never ends
}

}  // namespace
}  // namespace tidemark
