#include "md2.h"

#include <gtest/gtest.h>

#include <string_view>

namespace tidemark {
namespace {

std::string hex(const Md2Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return text;
}

std::span<const std::uint8_t> octets(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// RFC 1319, appendix A.5.
TEST(Md2, TestSuiteOfTheStandard) {
  EXPECT_EQ(hex(md2(octets(""))), "8350e5a3e24c153df2275c9f80692773");
  EXPECT_EQ(hex(md2(octets("abc"))), "da853b0d3f88d99b30283a69e6ded6bb");
  EXPECT_EQ(hex(md2(octets("abcdefghijklmnopqrstuvwxyz"))), "4e8ddff3650292ab5a4108c3aa47940b");
  EXPECT_EQ(hex(md2(octets("12345678901234567890123456789012345678901234567890123456789012345678901234567890"))),
            "d5976f79d83d3a0dc9806c3c66f3efd8");
}

TEST(Md2, HmacIsTwoDigestsWithTheKeyInEach) {
  const std::string key(16, 'k');
  std::string inner(16, 'k' ^ 0x36), outer(16, 'k' ^ 0x5c);
  const Md2Digest first = md2(octets(inner + "message"));
  outer.append(reinterpret_cast<const char*>(first.data()), first.size());
  EXPECT_EQ(hmac_md2(octets(key), octets("message")), md2(octets(outer)));
}

}  // namespace
}  // namespace tidemark
