#include "io/corpus_json.h"

#include <gtest/gtest.h>

#include "support/measurements.h"
#include "support/throws.h"

namespace tidemark::io {
namespace {

constexpr const char* kRow =
    R"({"id":"a","source":"s","gpu":"t4","metric":"device","measured_bytes":5,"predict_reason":"no","run_reason":"no"})";

TEST(CorpusJson, GivesBackWhatItWrote) {
  const Corpus corpus = corpus_of({{1000, 1100}, {2000, 1900}});
  const std::string rows = write_rows(corpus.rows), answers = write_answers(corpus.stored);
  EXPECT_EQ(write_rows(read_rows(rows, "rows.jsonl")), rows);
  EXPECT_EQ(write_answers(read_answers(answers, "predictions.jsonl")), answers);
}

TEST(CorpusJson, NamesTheLine) {
  const std::string text = std::string(kRow) + "\n\n{\"id\": }\n";
  EXPECT_STREQ(error_of([&] { read_rows(text, "rows.jsonl"); })->what(),
               "rows.jsonl: line 3: it is not JSON: mistake in line 3");
  const std::string other = std::string(kRow) + "\n" + R"({"id":"b","sorce":"s"})";
  EXPECT_STREQ(error_of([&] { read_rows(other, "rows.jsonl"); })->what(),
               "rows.jsonl: line 2: \"sorce\" is not a known key (did you mean source?)");
}

TEST(CorpusJson, RefusesAFileWithoutRows) {
  EXPECT_STREQ(error_of([] { read_rows(" \n", "rows.jsonl"); })->what(), "rows.jsonl: it has no rows");
}

}  // namespace
}  // namespace tidemark::io
