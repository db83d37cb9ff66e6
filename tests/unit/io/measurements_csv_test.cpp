#include "io/measurements_csv.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

std::string refusal_of_csv(const std::string& text) {
  const auto error = error_of([&] { read_measurements_csv(text, "mine.csv"); });
  return error ? error->what() : "no error";
}

TEST(Csv, IsReadAsSpreadsheetsWriteIt) {
  const auto rows = read_csv(
      "\xef\xbb\xbf"
      "a,\"b \"\"x\"\", y\",\r\n\n\"two\nlines\", c ,d",
      "f");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].cells, (std::vector<std::string>{"a", "b \"x\", y", ""}));
  EXPECT_EQ(rows[1].cells, (std::vector<std::string>{"two\nlines", "c", "d"}));
  EXPECT_EQ(rows[1].line, 3);
}

TEST(Csv, NamesTheLineOfAMistake) {
  EXPECT_STREQ(error_of([] { read_csv("a\n\"b", "f"); })->what(), "f: line 2: a quote is not closed");
  EXPECT_STREQ(error_of([] { read_csv("a\n\"b\"c", "f"); })->what(), "f: line 2: there is text after a closing quote");
  EXPECT_STREQ(error_of([] { read_csv("a\nb\"c\"", "f"); })->what(),
               "f: line 2: a quote stands inside a cell that does not begin with one");
}

TEST(MeasurementsCsv, HasRowsSpecsAndCommands) {
  const auto rows = read_measurements_csv(
      "id,metric,gpu,measured_gib,model,batch,lora.r,train_only,command\n"
      "x,reserved,h100-80gb,12.5,llama/config.json,4,16,\"a,b\",\"train.py --batch \"\"4 5\"\"\"\n"
      ",allocated,t4,3,,,,,train.py\n",
      "mine.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].measured_bytes, 13'421'772'800);
  EXPECT_EQ(rows[0].rounding_bytes, 53'687'092);  // 0.05 GiB, upwards
  EXPECT_EQ(rows[0].model, "llama/config.json");
  EXPECT_EQ(*rows[0].predict.find("batch"), Value(4));
  EXPECT_EQ(*rows[0].predict.find("lora")->find("r"), Value(16));
  EXPECT_EQ(rows[0].predict.find("train_only")->as_list()->size(), 2u);
  EXPECT_EQ(rows[0].run->arguments, (std::vector<std::string>{"--batch", "4 5"}));
  EXPECT_EQ(rows[1].id, "line 3");
  EXPECT_TRUE(rows[1].predict.is_null());
  EXPECT_EQ(rows[1].rounding_bytes, 1LL << 29);
}

TEST(MeasurementsCsv, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(refusal_of_csv("id\n"), "mine.csv: it has no rows (the first line names the columns)");
  EXPECT_EQ(refusal_of_csv("metrc,gpu\nreserved,t4\n"),
            "mine.csv: line 1: there is no column \"metrc\" (did you mean metric?)");
  EXPECT_EQ(refusal_of_csv("gpu,gpu\nt4,t4\n"), "mine.csv: line 1: the column \"gpu\" is given twice");
  EXPECT_EQ(refusal_of_csv("gpu,metric\nt4\n"), "mine.csv: line 2: 1 cells under 2 columns");
  EXPECT_EQ(refusal_of_csv("gpu,metric,measured_gib\nt4,reserved,much\n"),
            "mine.csv: line 2: measured_gib: expected a size, found \"much\"");
  EXPECT_EQ(refusal_of_csv("gpu,metric,measured_bytes,batch\nt4,reserved,5,many\n"),
            "mine.csv: line 2: batch: expected a whole number, found \"many\"");
  EXPECT_EQ(refusal_of_csv("gpu,metric,measured_bytes,command\nt4,reserved,5,\"a \"\"b\"\n"),
            "mine.csv: line 2: command: a quote is not closed");
  EXPECT_EQ(refusal_of_csv("gpu,metric\nt4,reserved\n"),
            "mine.csv: line 2: \"measured_bytes\" is missing (only a run that is \"out_of_memory\" may have none)");
}

}  // namespace
}  // namespace tidemark::io
