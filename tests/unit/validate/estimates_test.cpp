#include "validate/estimates.h"

#include <gtest/gtest.h>

#include "support/measurements.h"
#include "support/throws.h"

namespace tidemark {
namespace {

Corpus corpus_of_one_row() {
  Corpus corpus;
  corpus.rows.push_back(read_measurement(measurement_value(), "rows.jsonl: line 1"));
  return corpus;
}

Estimate estimate_of(const Corpus& corpus, std::int64_t bytes) {
  return read_estimate(Value::Map{{"id", corpus.rows[0].id}, {"estimator", "other"}, {"bytes", bytes}},
                       "estimates.jsonl: line 2");
}

TEST(Estimates, AreGivenToTheirRows) {
  Corpus corpus = corpus_of_one_row();
  const Estimate refused = read_estimate(
      Value::Map{{"id", corpus.rows[0].id}, {"estimator", "third"}, {"bytes", Value()}, {"refused", "no CNNs"}}, "e");
  add_estimates(corpus, {estimate_of(corpus, 7), refused});
  EXPECT_EQ(corpus.rows[0].estimates.at("other"), 7);
  EXPECT_FALSE(corpus.rows[0].estimates.contains("third"));
}

TEST(Estimates, AreGivenOnce) {
  Corpus corpus = corpus_of_one_row();
  const Estimate estimate = estimate_of(corpus, 7);
  EXPECT_STREQ(error_of([&] { add_estimates(corpus, {estimate, estimate}); })->what(),
               "estimates.jsonl: line 2: the row has an estimate of other already");
}

TEST(Estimates, NameARowThatIsThere) {
  Corpus corpus = corpus_of_one_row();
  Estimate estimate = estimate_of(corpus, 7);
  estimate.id = "another";
  EXPECT_STREQ(error_of([&] { add_estimates(corpus, {estimate}); })->what(),
               "estimates.jsonl: line 2: no row has the id \"another\"");
}

TEST(Estimates, SayHowManyBytesOrWhyNone) {
  const auto says = [](Value::Map map) { return error_of([&] { read_estimate(map, "e"); })->message(); };
  EXPECT_EQ(says({{"id", "a"}, {"estimator", "b"}}), "it has either \"bytes\" or \"refused\"");
  EXPECT_EQ(says({{"id", "a"}, {"estimator", "b"}, {"bytes", 1}, {"refused", "c"}}),
            "it has either \"bytes\" or \"refused\"");
  EXPECT_EQ(says({{"estimator", "b"}, {"bytes", 1}}), "\"id\" is missing");
  EXPECT_EQ(says({{"id", "a"}, {"bytes", 1}}), "\"estimator\" is missing");
}

}  // namespace
}  // namespace tidemark
