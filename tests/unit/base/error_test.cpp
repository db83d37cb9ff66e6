#include "base/error.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Error, CarriesFourFieldsAndOneLine) {
  const Error error(Errc::bad_file, "a key is missing", "card.json", "add it");
  EXPECT_EQ(error.code(), Errc::bad_file);
  EXPECT_EQ(error.message(), "a key is missing");
  EXPECT_EQ(error.where(), "card.json");
  EXPECT_EQ(error.hint(), "add it");
  EXPECT_STREQ(error.what(), "card.json: a key is missing (add it)");
}

TEST(Error, LeavesOutWhatIsEmpty) { EXPECT_STREQ(Error(Errc::io, "no space").what(), "no space"); }

TEST(Error, NamesItsCodes) {
  EXPECT_EQ(name_of(Errc::unknown_name), "unknown_name");
  EXPECT_EQ(name_of(Errc::unsupported), "unsupported");
}

}  // namespace
}  // namespace tidemark
