#include "validate/validation.h"

#include <gtest/gtest.h>

#include "support/measurements.h"

namespace tidemark {
namespace {

Validation validated(const Corpus& corpus, bool judge_bars = true, std::vector<std::string> by = {"corpus"}) {
  Validator validator(std::move(by), judge_bars);
  validator.add_corpus(corpus);
  validator.begin_engine(Engine::run, true);
  for (std::size_t i = 0; i < corpus.rows.size(); ++i)
    validator.add(corpus, corpus.rows[i], 10'000, {.answer = corpus.stored[i], .reason = {}});
  return validator.finish();
}

Bar median_at_most(double limit) { return {.statistic = Statistic::median, .limit = limit, .why = "said so"}; }

TEST(Validator, JudgesBars) {
  Corpus corpus = corpus_of({{1000, 1100}, {1000, 1200}, {1000, 1300}});
  corpus.info.bars = {median_at_most(0.2), median_at_most(0.19)};
  corpus.info.bars.push_back({.statistic = Statistic::n, .limit = 3, .at = At::least});
  const Validation validation = validated(corpus);
  ASSERT_EQ(validation.bars.size(), 3u);
  EXPECT_TRUE(validation.bars[0].met);
  EXPECT_FALSE(validation.bars[1].met);
  EXPECT_DOUBLE_EQ(*validation.bars[1].value, 0.2);
  EXPECT_TRUE(validation.bars[2].met);
  EXPECT_TRUE(validation.bar_missed());
  EXPECT_TRUE(validated(corpus, false).bars.empty());
}

TEST(Validator, MissesABarThatNoRowCountsFor) {
  Corpus corpus = corpus_of({{1000, 1000}});
  corpus.info.bars = {median_at_most(1)};
  corpus.info.bars[0].where = {{"family", "t5"}};
  const Validation validation = validated(corpus);
  EXPECT_FALSE(validation.bars[0].value);
  EXPECT_FALSE(validation.bars[0].met);
}

TEST(Validator, LeavesBarsOfOtherEnginesAlone) {
  Corpus corpus = corpus_of({{1000, 1000}});
  corpus.info.bars = {median_at_most(0)};
  corpus.info.bars[0].engine = Engine::predict;
  EXPECT_TRUE(validated(corpus).bars.empty());
}

TEST(Validator, SaysWhatWasLeftOut) {
  Corpus corpus = corpus_of({{1000, 1000}, {1000, 1000}, {1000, 1000}});
  corpus.rows[0].metric = Metric::active;  // which the answer does not tell
  corpus.rows[2].left_out = "no batch";
  Validator validator({"corpus"}, true);
  validator.add_corpus(corpus);
  validator.begin_engine(Engine::run, false);
  validator.add(corpus, corpus.rows[0], 10'000, {.answer = corpus.stored[0], .reason = {}});
  validator.add(corpus, corpus.rows[1], 10'000, {.answer = {}, .reason = "exit code 3: boom", .failed = true});
  const Validation validation = validator.finish();
  ASSERT_EQ(validation.left_out.size(), 3u);
  EXPECT_EQ(validation.left_out[0].reason, "no batch");
  EXPECT_FALSE(validation.left_out[0].engine);
  EXPECT_EQ(validation.left_out[1].reason, "its answer does not tell active");
  EXPECT_TRUE(validation.run_failed());
  EXPECT_TRUE(validation.engines[0].predictions.empty());
}

TEST(Validator, PutsRivalsOnTheSameRows) {
  Corpus corpus = corpus_of({{1000, 1000}, {1000, 1000}});
  for (Measurement& row : corpus.rows) row.out_of_memory = false;
  corpus.rows[0].estimates["somebody"] = 1500;
  corpus.rows[1].estimates["somebody"] = 20'000;  // more than the card has: it says that memory runs out
  const Validation validation = validated(corpus);
  const Statistics& theirs = validation.engines[0].total.rivals.at("somebody");
  EXPECT_EQ(theirs.n, 2);
  EXPECT_DOUBLE_EQ(*theirs.max, 19);
  EXPECT_EQ(theirs.false_refusals, 1);
  EXPECT_DOUBLE_EQ(*theirs.pef, 0.5);
}

TEST(Validator, TakesVerdictsThatWerePublished) {
  Corpus corpus = corpus_of({{1000, 990}});
  Measurement& row = corpus.rows[0];
  row.out_of_memory = false;
  row.estimates = {{"a", 950}, {"b", 960}};
  row.verdicts = {{"a", {.out_of_memory = false, .survived = true}}, {"b", {.out_of_memory = true, .survived = {}}}};
  const Group total = validated(corpus).engines[0].total;
  EXPECT_EQ(*total.rivals.at("a").pef, 0);
  EXPECT_EQ(total.rivals.at("b").false_refusals, 1);
  EXPECT_EQ(*total.statistics.pef, 0);  // 990 is more than the 950 that were survived, though less than was measured
}

}  // namespace
}  // namespace tidemark
