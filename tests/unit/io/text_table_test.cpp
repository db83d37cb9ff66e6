#include "io/text_table.h"

#include <gtest/gtest.h>

namespace tidemark::io {
namespace {

TEST(TextTable, AlignsTheFirstColumnLeftAndOthersRight) {
  TextTable table({"name", "bytes"});
  table.add({"a", "1,024"});
  table.add({"longer", "8"});
  EXPECT_EQ(table.text(2), "  name    bytes\n  a       1,024\n  longer      8\n");
}

TEST(TextTable, LeavesNoSpacesAtTheEnd) {
  TextTable table({"name", ""});
  table.add({"a", "1"});
  EXPECT_EQ(table.text(), "name\na     1\n");
}

TEST(DisplayWidth, CountsCharactersNotBytes) { EXPECT_EQ(display_width("é…x"), 3U); }

TEST(ShortenFront, KeepsTheEnd) {
  EXPECT_EQ(shorten_front("model.layers.0.mlp", 8), "….0.mlp");
  EXPECT_EQ(shorten_front("model.layers.0.mlp", 3), "…lp");
  EXPECT_EQ(shorten_front("/home/me/code/train.py:12", 17), "…/train.py:12");
  EXPECT_EQ(shorten_front("short", 8), "short");
  EXPECT_EQ(display_width(shorten_front("ééééééééé", 4)), 4U);
}

}  // namespace
}  // namespace tidemark::io
