#include "environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace tidemark::cli {
namespace {

TEST(Environment, AddsToListsInFrontAndAtTheEnd) {
  Environment environment;
  environment.prepend("LIST", "b");
  environment.prepend("LIST", "a");
  environment.append("LIST", "c");
  EXPECT_EQ(environment.get("LIST"), "a:b:c");
}

TEST(Environment, AnEmptyListLeavesNoColon) {
  Environment environment;
  environment.set("LIST", "");
  environment.append("LIST", "a");
  EXPECT_EQ(environment.get("LIST"), "a");
}

TEST(Environment, TakesTheProcessesOwn) {
  ::setenv("TIDEMARK_TEST_VARIABLE", "a=b", 1);
  const Environment environment = Environment::of_this_process();
  ::unsetenv("TIDEMARK_TEST_VARIABLE");
  EXPECT_EQ(environment.get("TIDEMARK_TEST_VARIABLE"), "a=b");
  EXPECT_EQ(environment.get("TIDEMARK_NO_SUCH_VARIABLE"), std::nullopt);
}

TEST(Environment, BecomesStrings) {
  Environment environment;
  environment.set("B", "2");
  environment.set("A", "1");
  environment.unset("B");
  EXPECT_EQ(environment.strings(), std::vector<std::string>{"A=1"});
}

}  // namespace
}  // namespace tidemark::cli
