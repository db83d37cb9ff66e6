#include "io/report_explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_report.h"
#include "support/throws.h"

namespace tidemark::io {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PeakLists, AreNamed) {
  EXPECT_EQ(parse_peak_lists("module,line", "--by"), (std::vector{PeakList::module, PeakList::line}));
  for (const char* text : {"", "modules", "module,", ",line"})
    EXPECT_THROW(parse_peak_lists(text, "--by"), Error) << text;
  const auto error = error_of([] { parse_peak_lists("operations", "--by"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "--by: \"operations\" is not one of category, module, operation, line (did you mean operation?)");
}

TEST(Explanation, ShowsTheListsInOrder) {
  const std::string text = explanation_of(sample_report(), {{PeakList::line, PeakList::category}, 2, true});
  EXPECT_THAT(text, HasSubstr("allocated at the peak (step 2, backward): 60.0 GiB, 64,424,509,440 bytes"));
  EXPECT_LT(text.find("by line"), text.find("by category"));
  EXPECT_THAT(text, HasSubstr("[1 others]"));  // gradients; workspace holds nothing
  EXPECT_THAT(text, Not(HasSubstr("by module")));
}

TEST(Explanation, PutsRepeatedLayersTogether) {
  const Report report = sample_report();
  EXPECT_THAT(explanation_of(report, {{PeakList::module}, 12, true}), HasSubstr("model.layers.*.mlp"));
  EXPECT_THAT(explanation_of(report, {{PeakList::module}, 12, false}), HasSubstr("model.layers.0.mlp"));
}

TEST(Explanation, SaysWhatTheReportDoesNot) {
  Report report = sample_report();
  report.at_peak.by_operation.clear();
  EXPECT_THAT(explanation_of(report, {{PeakList::operation}, 12, true}),
              HasSubstr("by operation: the report does not say"));
}

}  // namespace
}  // namespace tidemark::io
