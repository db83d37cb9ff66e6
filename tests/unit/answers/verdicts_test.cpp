#include "answers/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers/predict_answer.h"
#include "answers/question.h"
#include "io/value_json.h"

namespace tidemark::answers {
namespace {

using testing::HasSubstr;

const Data& data_for_verdicts() {
  static const Data data = data_of_folder(TIDEMARK_SOURCE_DIR "/data", "1.2.3", ReadPrograms::when_asked);
  return data;
}

Value small_question(const std::string& keys, const std::string& more) {
  return io::value_from_json(
      R"({"spec": {"model": {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
          "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024}, "seq": 256, "gpu": "l4")" +
          keys + "}" + more + "}",
      "question");
}

const Value& row_in(const Value& answer, const char* list, std::size_t i) {
  return answer.find(list)->as_list()->at(i);
}
std::int64_t integer_in(const Value& row, const char* key) { return *row.find(key)->as_integer(); }

TEST(Verdicts, RowOfAMethodIsItsReport) {
  const Value answer =
      verdicts(small_question(R"(, "lora": {"r": 64})", R"(, "methods": ["full", "lora"])"), data_for_verdicts());
  const Report full = predicted(small_question(R"(, "method": "full")", ""), data_for_verdicts());
  const Report lora = predicted(small_question(R"(, "method": "lora", "lora": {"r": 64})", ""), data_for_verdicts());
  EXPECT_EQ(integer_in(row_in(answer, "methods", 0), "device_bytes"), full.peak.device_bytes);
  EXPECT_EQ(*row_in(answer, "methods", 0).find("verdict"), Value(full.verdict));
  EXPECT_EQ(integer_in(row_in(answer, "methods", 1), "device_bytes"), lora.peak.device_bytes);
  EXPECT_NE(full.peak.device_bytes, lora.peak.device_bytes);
}

TEST(Verdicts, RowOfACardIsItsReport) {
  const Value answer =
      verdicts(small_question("", R"(, "cards": ["t4", "h100-80gb"], "margin": "p90")"), data_for_verdicts());
  for (const std::size_t i : {0u, 1u}) {
    const std::string name = *row_in(answer, "cards", i).find("name")->as_text();
    Value asked = small_question("", R"(, "margin": "p90")"), spec = *asked.find("spec");
    spec.set("gpu", name), asked.set("spec", spec);
    const Report report = predicted(asked, data_for_verdicts());
    EXPECT_EQ(*row_in(answer, "cards", i).find("fits"), Value(true));
    EXPECT_EQ(integer_in(row_in(answer, "cards", i), "device_bytes"), report.peak.device_bytes);
    EXPECT_EQ(integer_in(row_in(answer, "cards", i), "free_bytes"),
              report.card.total_bytes - report.peak.device_bytes - report.margin->bytes);
  }
}

TEST(Verdicts, MemoryOfTheQuestionIsThatOfItsCardAlone) {
  const Value answer =
      verdicts(small_question(R"(, "memory": "9GiB")", R"(, "cards": ["l4", "l40s"])"), data_for_verdicts());
  EXPECT_EQ(integer_in(row_in(answer, "cards", 0), "total_bytes"), 9LL << 30);
  EXPECT_GT(integer_in(row_in(answer, "cards", 1), "total_bytes"), 40LL << 30);
}

TEST(Verdicts, ShortfallIsThatOfAPeakWithRoom) {
  const std::string large = R"(, "batch": 256, "memory": "1GiB")";
  const Value answer = verdicts(small_question(large, R"(, "cards": ["l4"], "remedies": true)"), data_for_verdicts());
  const Value& line = row_in(answer, "cards", 0);
  EXPECT_EQ(*line.find("fits"), Value(false));
  EXPECT_THAT(*line.find("verdict")->as_text(), HasSubstr("out of memory"));
  EXPECT_GT(integer_in(line, "device_bytes"), 1LL << 30);
  EXPECT_EQ(integer_in(line, "free_bytes"), (1LL << 30) - integer_in(line, "device_bytes"));
  const Report report = predicted(small_question(large, ""), data_for_verdicts());
  ASSERT_FALSE(report.remedies.empty());
  EXPECT_EQ(*row_in(answer, "remedies", 0).find("change"), report.remedies[0].change);
}

TEST(Verdicts, RefusedRowHasItsReason) {
  const Value answer =
      verdicts(small_question("", R"(, "methods": ["projector"], "cards": ["l4", "l5"])"), data_for_verdicts());
  EXPECT_THAT(*row_in(answer, "methods", 0).find("error")->find("message")->as_text(),
              HasSubstr("nothing in the model is called"));
  EXPECT_EQ(*row_in(answer, "cards", 0).find("fits"), Value(true));
  EXPECT_EQ(*row_in(answer, "cards", 1).find("error")->find("code"), Value("unknown_name"));
}

TEST(OtherMethod, KeepsWhatItSetsItself) {
  const Value keys = io::value_from_json(
      R"({"batch": 4, "method": "qlora", "lora": {"r": 64}, "quantization": {"quant_type": "fp4"}, "freeze": "head"})",
      "keys");
  const auto written = [&](const char* method) { return io::value_to_json_line(with_other_method(keys, method)); };
  EXPECT_EQ(written("full"), R"({"batch":4,"method":"full"})"
                             "\n");
  EXPECT_EQ(written("lora"), R"({"batch":4,"lora":{"r":64},"method":"lora"})"
                             "\n");
  EXPECT_EQ(written("trl-qlora"),
            R"({"batch":4,"lora":{"r":64},"quantization":{"quant_type":"fp4"},"method":"trl-qlora"})"
            "\n");
}

}  // namespace
}  // namespace tidemark::answers
