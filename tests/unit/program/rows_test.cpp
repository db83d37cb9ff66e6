#include "program/rows.h"

#include <gtest/gtest.h>

#include "io/program_text.h"
#include "program/family.h"
#include "program/tiny_program.h"
#include "support/throws.h"

namespace tidemark {
namespace {

using Lines = std::vector<std::string>;

/// Of four images in two samples.
struct Read {
  Program program;
  std::deque<std::string> texts;

  Read() {
    program.file = "rows";
    program.symbols = {"B", "images", "layers"};
    program.captured_values = {2, 4, 3};
  }

  Lines operator()(const Lines& from) {
    std::vector<ProgramLine> lines;
    for (const std::string& line : from) {
      const std::size_t indent = line.find_first_not_of(' ');
      lines.push_back({static_cast<int>(lines.size()) + 1, indent, std::string_view(line).substr(indent)});
    }
    Lines out;
    for (const ProgramLine& line : written_out(lines, 0, program, texts))
      out.push_back(std::string(line.indent, ' ') + std::string(line.text));
    return out;
  }
};

TEST(Rows, AListIsAValueForEachOfThem) {
  EXPECT_EQ(Read()({"  %1[0..images - 1]: T[B, f(2)] view = torch.Tensor.unbind(%0, 0)"}),
            (Lines{"  %1.0: T[B, f(2)] view, %1.1: T[B, f(2)] view, %1.2: T[B, f(2)] view, %1.3: T[B, f(2)] view = "
                   "torch.Tensor.unbind(%0, 0)"}));
  EXPECT_EQ(
      Read()({"  %2: T[4] = torch.cat([%1[0..images - 1], %0], dim=0)", "  del %1[images - 2..0] %1[images - 1]"}),
      (Lines{"  %2: T[4] = torch.cat([%1.0, %1.1, %1.2, %1.3, %0], dim=0)", "  del %1.2, %1.1, %1.0 %1.3"}));
}

TEST(Rows, ANumberMayBeWhatTheRoundMakesIt) {  // rows of windows, of which the lower and right ones are smaller
  EXPECT_EQ(
      Read()(
          {"  %1[0..images - 1]: T[3, min(8, 12 - 8*(i//2 % 2))] = torch.split(%0, [min(8, 12 - 8*(i//2 % 2)) for i in 0..images - 1], dim=1)"}),
      (Lines{
          "  %1.0: T[3, min(8, 12 - 8*(0//2 % 2))], %1.1: T[3, min(8, 12 - 8*(1//2 % 2))], %1.2: T[3, min(8, 12 - 8*(2//2 % 2))], "
          "%1.3: T[3, min(8, 12 - 8*(3//2 % 2))] = torch.split(%0, [min(8, 12 - 8*(0//2 % 2)), min(8, 12 - 8*(1//2 % 2)), "
          "min(8, 12 - 8*(2//2 % 2)), min(8, 12 - 8*(3//2 % 2))], dim=1)"}));
}

TEST(Rows, OfOneImageThereAreNoOthers) {
  Read of_one;
  of_one.program.captured_values = {1, 1, 3};
  EXPECT_EQ(of_one({"  del %1[images - 2..0] %1[images - 1]", "  del %3 %2[images - 2..0]", "  del %2[images - 2..0]",
                    "  %4 = torch.cat([%1[0..images - 1], %3[1..images - 1]], dim=0)",
                    "  return %5[1..images - 1], %6[images - 1..images - 1]",
                    "  return loss=%1, outputs=%5[1..images - 1], outputs=%6"}),
            (Lines{"  del %1.0", "  del %3", "  %4 = torch.cat([%1.0], dim=0)", "  return %6.0",
                   "  return loss=%1, outputs=%6"}));
}

TEST(Rows, SeveralGoPlaceByPlace) {
  EXPECT_EQ(Read()({"  del %14%2[images - 2..0] %3 %14[images - 1]"}),
            (Lines{"  del %14.2, %2.2, %14.1, %2.1, %14.0, %2.0 %3 %14.3"}));
  EXPECT_EQ(Read()({"  del %14%2"}), (Lines{"  del %14%2"}));  // which is for whoever reads names to refuse
}

TEST(Rows, ANumberForEachIsAListOfThem) {
  EXPECT_EQ(Read()({"  %2, %3 = torch.split(%1, [4*B for i in 0..images - 1], dim=0)",
                    "  %4 = torch.split(%1, [16*i + 1 for i in 0..2], [5, [7]])"}),
            (Lines{"  %2, %3 = torch.split(%1, [4*B, 4*B, 4*B, 4*B], dim=0)",
                   "  %4 = torch.split(%1, [16*0 + 1, 16*1 + 1, 16*2 + 1], [5, [7]])"}));
}

TEST(Rows, WhatIsDoneForEachIsWrittenOut) {
  EXPECT_EQ(
      Read()({"  each i in 1..layers - 1:", "    %4[i]: T[4] = call layers.{i + 1}: Layer#1(0=%4[i - 1], i_am=\"i\")",
              "    %5[i]: T[4, i] = torch.f($i, i, 16*i + B, slice(0, %7, None))", "  del %4[0]"}),
      (Lines{"  %4.1: T[4] = call layers.{1 + 1}: Layer#1(0=%4.0, i_am=\"i\")",
             "  %5.1: T[4, 1] = torch.f($i, 1, 16*1 + B, slice(0, %7, None))",
             "  %4.2: T[4] = call layers.{2 + 1}: Layer#1(0=%4.1, i_am=\"i\")",
             "  %5.2: T[4, 2] = torch.f($i, 2, 16*2 + B, slice(0, %7, None))", "  del %4.0"}));
}

TEST(Rows, ImagesOfEachSampleAreRoundsWithinRounds) {
  EXPECT_EQ(
      Read()({"  each j in 1..B - 1:", "    %3[j]: T[B, j] = torch.f(%2[j - 1])", "    each i in 0..images//B - 1:",
              "      %4[j][i]: T[i + 8*j] view = torch.f(%3[j], %1[i + (images//B)*j], mask_i=j)",
              "    del %5%4[j][1..0] %4[j - 1][0]"}),
      (Lines{"  %3.1: T[B, 1] = torch.f(%2.0)", "  %4.1.0: T[0 + 8*1] view = torch.f(%3.1, %1.2, mask_i=1)",
             "  %4.1.1: T[1 + 8*1] view = torch.f(%3.1, %1.3, mask_i=1)",
             "  del %5.1.1, %4.1.1, %5.1.0, %4.1.0 %4.0.0"}));
}

TEST(Rows, OfNoneNothingIsLeft) {
  EXPECT_EQ(
      Read()({"  each i in 1..B - 2:", "    torch.f(%4[i])", "  %2 = torch.cat([%0, %1[1..B - 2], %3], [%1[1..B - 2]])",
              "  %2 = torch.cat([%0, %1[1..B - 2]])", "  del %1[B - 3..0] %2", "  del %1[1..B - 2]"}),
      (Lines{"  %2 = torch.cat([%0, %3], [])", "  %2 = torch.cat([%0])", "  del %2"}));
}

/// Of three layers, whose kinds a list says.
Lines in_order(std::vector<std::string> kinds, const Lines& lines) {
  Read read;
  read.program.orders = {{"kinds", std::move(kinds)}};
  return read(lines);
}

TEST(Rows, OfEachLayerWhatIsDoneOfItsKindIsWrittenOut) {
  const Lines told = {"  each i in 1..layers - 1 by kinds:",
                      "    of \"a\":",
                      "      %1[i]: T[4] = call layers.{i}: A#1(0=%1[i - 1])",
                      "      del %1[i - 1]",
                      "    of \"b\":",
                      "      %1[i]: T[4] = call layers.{i}: B#1(0=%1[i - 1])",
                      "  return %1[layers - 1]"};
  EXPECT_EQ(in_order({"a", "b", "a"}, told),
            (Lines{"  %1.1: T[4] = call layers.{1}: B#1(0=%1.0)", "  %1.2: T[4] = call layers.{2}: A#1(0=%1.1)",
                   "  del %1.1", "  return %1.2"}));
  EXPECT_EQ(in_order({"b", "a", "b"}, told), (Lines{"  %1.1: T[4] = call layers.{1}: A#1(0=%1.0)", "  del %1.0",
                                                    "  %1.2: T[4] = call layers.{2}: B#1(0=%1.1)", "  return %1.2"}));
  EXPECT_EQ(error_of([&] { in_order({"a", "c", "a"}, told); })->message(), "nothing is told of \"c\"");
  EXPECT_EQ(error_of([&] { in_order({"a", "b"}, told); })->message(), "no layer 2 of 2");
  EXPECT_EQ(error_of([&] { Read()(told); })->message(), "kinds is no list of layers' kinds");
}

TEST(Rows, WhatWasCountedIsNoted) {
  Read read;
  read({"  each i in 0..images - 1:", "    torch.f(%4[i])"});
  ASSERT_EQ(read.program.counted.size(), 2u);
  EXPECT_EQ(read.program.counted[1].second, 3);
  const std::vector<std::int64_t> others = {2, 6, 3};
  EXPECT_EQ(read.program.counted[1].first(others), 5);
}

TEST(Rows, WhatIsNotWellFormedIsSaid) {
  for (const char* line : {"%1[0..images - 1 = f()", "%1[no..3] = f()",
                           "each i in 0:", "each i in 0..images*100000:", "f([4 for i in 0])"}) {
    const auto error = error_of([&] { Read()({std::string("  ") + line, "    f()"}); });
    ASSERT_TRUE(error) << line;
    EXPECT_EQ(error->code(), Errc::bad_file) << line;
    EXPECT_NE(error->where().find("rows:1"), std::string::npos) << line << error->where();
  }
  EXPECT_TRUE(error_of([] { Read()({"  each i in 0..1:", "    each i in 0..1:", "      f()"}); }));
  EXPECT_TRUE(error_of([] { Read()({"  each i in 0..1:", "    each j in 0..1:", "      f()"}); }));
}

}  // namespace
}  // namespace tidemark
