// What a program says to be done once, and what attributes keep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/tiny_program.h"
#include "program/tiny_training.h"
#include "support/sample_card.h"
#include "support/throws.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

constexpr const char* kNorm = "  %0: T[B, S, 64] = torch.Tensor.mul(self.weight, $0)";
constexpr const char* kOnce = R"(  once self.table:
    %1: float32[5000] = torch.ones([5000], device=device)
    %2: float32[5000] = torch.Tensor.neg(%1)
    del %1
    keep self.table=%2
  %3: float32[5000] = torch.Tensor.add(self.table, 1.0)
  del %3
)";

/// With something that is done in each of the two layers' norms before.
std::string in_norms(const std::string& block) { return with(tiny_program(), kNorm, block + kNorm); }

std::vector<std::string> three_steps_of(const std::string& text, Checkpointing checkpointing = Checkpointing::none) {
  Spec spec = tiny_spec();
  spec.steps = 3;
  spec.checkpointing = checkpointing;
  return events_of(text, spec);
}

std::ptrdiff_t count(const std::vector<std::string>& events, const std::string& event) {
  return std::count(events.begin(), events.end(), event);
}

std::ptrdiff_t count_of_tables(const std::vector<std::string>& events, char sign) {
  return std::count_if(events.begin(), events.end(),
                       [&](const std::string& event) { return event.starts_with(sign + std::string("20480 ")); });
}

TEST(Once, IsDoneByEachModuleAtItsFirstCallAndKept) {
  for (const Checkpointing checkpointing :
       {Checkpointing::none, Checkpointing::non_reentrant, Checkpointing::reentrant}) {
    const std::vector<std::string> events = three_steps_of(in_norms(kOnce), checkpointing);
    const std::ptrdiff_t again = checkpointing == Checkpointing::none ? 0 : 3;  // in the backward pass of each step
    for (const std::string norm : {"layers.0.norm", "layers.1.norm"}) {
      EXPECT_EQ(count(events, "+20480 aten::ones " + norm), 1);
      EXPECT_EQ(count(events, "+20480 aten::neg " + norm), 1);
      EXPECT_EQ(count(events, "+20480 aten::add " + norm), 3);
    }
    EXPECT_EQ(count_of_tables(events, '+'), 2 * (2 + 3 + again));
    EXPECT_EQ(count_of_tables(events, '+') - count_of_tables(events, '-'), 2);  // the tables are there to the end
  }
}

TEST(Once, IsNotDoneWhereTheModuleHasTheAttribute) {
  const std::string declared = with(in_norms(kOnce), "        param weight: T[64]\n",
                                    "        param weight: T[64]\n        buffer table: float32[5000] transient\n");
  EXPECT_EQ(count(three_steps_of(declared), "+20480 aten::neg layers.0.norm"), 0);
}

TEST(Keep, LetsGoOfWhatTheAttributeHadBefore) {
  const std::string block =
      "  %1: float32[5000] = torch.ones([5000], device=device)\n  keep self.table=%1\n  %2: float32[5000] = "
      "torch.Tensor.neg(%1)\n  del %2\n";
  const std::string declared = with(in_norms(block), "        param weight: T[64]\n",
                                    "        param weight: T[64]\n        buffer table: float32[5000] transient\n");
  for (const std::string& text : {in_norms(block), declared}) {
    const std::vector<std::string> events = three_steps_of(text);
    const std::ptrdiff_t buffers = text == declared ? 2 : 0;  // that the first step lets go of
    EXPECT_EQ(count_of_tables(events, '-'), 2 * (3 + 2) + buffers);
  }
}

TEST(Keep, MayGiveAnAttributeAnotherOnesValue) {
  const std::string buffers =
      "        param weight: T[64]\n        buffer table: float32[5000] transient\n        buffer other: float32[5000] "
      "transient\n";
  const std::vector<std::string> events =
      three_steps_of(with(in_norms("  keep self.table=self.other\n"), "        param weight: T[64]\n", buffers));
  EXPECT_EQ(count_of_tables(events, '-'), 2);
}

TEST(Once, IsReadStrictly) {
  const auto message = [](const std::string& from, const std::string& to) {
    return error_of([&] { three_steps_of(with(in_norms(kOnce), from, to)); })->message();
  };
  EXPECT_EQ(message("keep self.table=%2", "keep self.tables=%2"),
            "what is done once does not end with \"keep self.table=…\"");
  EXPECT_EQ(message("    keep self.table=%2\n", ""), "what is done once does not end with \"keep self.table=…\"");
  EXPECT_EQ(message("keep self.table=%2", "keep self.table=%7"), "no value %7 here");
  EXPECT_EQ(message("keep self.table=%2", "keep self.table=2"), "an attribute keeps a value");
  EXPECT_EQ(message("once self.table:", "once %2:"), "expected an attribute, found \"%2:\"");
  EXPECT_EQ(message("once self.table:", "once self.table"), "expected \":\", found \"\"");
  EXPECT_EQ(message("    keep self.table=%2\n", "    keep self.table=%2\n    next %1=%2\n"),
            "what is done once does not end with \"keep self.table=…\"");
  EXPECT_THAT(message("torch.Tensor.add(self.table, 1.0)", "torch.Tensor.add(self.tabel, 1.0)"),
              HasSubstr("has no parameter or buffer tabel"));
  EXPECT_EQ(
      message("  once self.table:", "  %4: float32[5000] = torch.Tensor.neg(self.table)\n  del %4\n  once self.table:"),
      "torch.Tensor.neg with a value that is done with is not simulated");
}

}  // namespace
}  // namespace tidemark
