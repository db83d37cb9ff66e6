#include "base/check.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Check, PassesSilently) { EXPECT_NO_THROW(TM_CHECK(1 + 1 == 2, "arithmetic")); }

TEST(Check, NamesTheConditionAndTheFileWithoutItsFolders) {
  try {
    TM_CHECK(1 + 1 == 3, "arithmetic");
    FAIL();
  } catch (const InternalError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("arithmetic [check_test.cpp:"), 0U) << text;
    EXPECT_NE(text.find("1 + 1 == 3"), std::string::npos);
  }
}

}  // namespace
}  // namespace tidemark
