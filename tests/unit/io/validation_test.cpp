#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/validation_html.h"
#include "io/validation_json.h"
#include "io/validation_text.h"
#include "io/value_json.h"
#include "support/measurements.h"
#include "validate/validation.h"

namespace tidemark::io {
namespace {

using testing::HasSubstr;
using testing::Not;

class ValidationOutput : public testing::Test {
 protected:
  ValidationOutput() : corpus_(corpus_of({{1 << 20, 1'153'434}, {1 << 20, 1 << 20}, {1 << 30, 900 << 20}})) {
    corpus_.rows[0].id = "<b>first</b>";
    corpus_.rows[0].estimates["somebody"] = 2 << 20;
    corpus_.rows[2].left_out = "the batch size is not stated";
    corpus_.info.bars = {{.statistic = Statistic::max, .limit = 0.05, .why = "because"}};
    Validator validator({"family", "metric"}, true);
    validator.add_corpus(corpus_);
    validator.begin_engine(Engine::run, true);
    for (std::size_t i = 0; i < 2; ++i)
      validator.add(corpus_, corpus_.rows[i], 1 << 30, {.answer = corpus_.stored[i], .reason = {}});
    validation_ = validator.finish();
  }

  Corpus corpus_;
  Validation validation_;
};

TEST_F(ValidationOutput, AsText) {
  const std::string text = validation_to_text(validation_, {.rivals = true});
  EXPECT_THAT(text, HasSubstr("run, as stored: 2 rows predicted"));
  EXPECT_THAT(text, HasSubstr("-, reserved     2  5.00 %  5.00 %"));
  EXPECT_THAT(text, HasSubstr("somebody: n    median"));
  EXPECT_THAT(text, HasSubstr("made-up: run max <= 5.00 %  10.00 %  MISSED  because"));
  EXPECT_THAT(text, HasSubstr("    1  the batch size is not stated"));
  EXPECT_THAT(validation_to_text(validation_, {.left_out = true}),
              HasSubstr("  made-up c: the batch size is not stated"));
}

TEST_F(ValidationOutput, AsJson) {
  const Value json = value_from_json(validation_to_json(validation_), "v");
  EXPECT_EQ(*json.find("schema"), Value("tidemark.validation/1"));
  const Value& engine = json.find("engines")->as_list()->front();
  EXPECT_EQ(*engine.find("all")->find("statistics")->find("n"), Value(2));
  const Value& row = engine.find("rows")->as_list()->front();
  EXPECT_EQ(*row.find("predicted_bytes"), Value(1'153'434));
  EXPECT_EQ(*row.find("estimates")->find("somebody"), Value(2 << 20));
  EXPECT_EQ(*json.find("bars")->as_list()->front().find("met"), Value(false));
}

TEST_F(ValidationOutput, AsOnePage) {
  const std::string page = validation_to_html(validation_);
  for (const char* reference : {"http://", "https://", " src=", "<link", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, HasSubstr("1 of 1 bars are missed"));
  EXPECT_THAT(page, HasSubstr("<td>&lt;b&gt;first&lt;/b&gt;</td>"));
  EXPECT_THAT(page,
              HasSubstr(R"("row":"\u003cb>first\u003c/b>","measured":1048576,"predicted":1153434,"error":"+10.00 %")"));
  EXPECT_THAT(page, Not(HasSubstr("<b>first")));
  EXPECT_THAT(page, HasSubstr("the batch size is not stated"));
}

}  // namespace
}  // namespace tidemark::io
