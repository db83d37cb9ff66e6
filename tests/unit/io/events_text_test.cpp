#include "io/events_text.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(EventsText, ReadsLines) {
  const auto events = read_events("+512 aten::mm model.layers.0\r\n\n-512\n+0 - a module\n", "e");
  EXPECT_EQ(events,
            (std::vector<MemoryEvent>{
                {512, false, "aten::mm", "model.layers.0"}, {512, true, "-", "-"}, {0, false, "-", "a module"}}));
  EXPECT_EQ(event_line(events[0]), "+512 aten::mm model.layers.0");
  EXPECT_EQ(event_line(events[1]), "-512 - -");
}

TEST(EventsText, NamesTheLineOfAMistake) {
  for (const char* line : {"512 a b", "+x a b", "+", "+-5", "+99999999999999999999", "+1.5 a", "hello"}) {
    const auto error = error_of([&] { read_events("+1 a b\n" + std::string(line) + "\n", "e.txt"); });
    ASSERT_TRUE(error) << line;
    EXPECT_EQ(error->where(), "e.txt: line 2");
  }
}

}  // namespace
}  // namespace tidemark::io
