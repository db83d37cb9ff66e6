#include "answers/topics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers/question.h"
#include "io/value_json.h"

namespace tidemark::answers {
namespace {

using testing::HasSubstr;

const Data& sample_data() {
  static const Data data = data_of_folder(TIDEMARK_SOURCE_DIR "/data", "1.2.3", ReadPrograms::when_asked);
  return data;
}

std::string question_about(const std::string& model, const std::string& more = {}) {
  return R"({"spec": {"seq": 64, "gpu": "l4", "model": )" + model + "}" + more + "}";
}

constexpr const char* kSmall =
    R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 128})";

TEST(Answer, IsAReport) {
  const Answer found = answer("predict", question_about(kSmall, R"(, "sources": {"torch": "of here"})"), sample_data());
  ASSERT_TRUE(found.is_good()) << found.text;
  const Value report = io::value_from_json(found.text, "answer");
  EXPECT_EQ(*report.find("versions")->find("tidemark"), Value("1.2.3"));
  EXPECT_EQ(*report.find("sources")->find("torch"), Value("of here"));
  EXPECT_EQ(*report.find("sources")->find("transformers"), Value("the default"));
}

TEST(Answer, TellsWhatIsWrong) {
  struct Case {
    const char* topic;
    std::string question;
    Errc code;
    const char* text;
  };
  for (const Case& wrong :
       {Case{"predcit", "{}", Errc::unknown_name, "did you mean predict?"},
        Case{"predict", R"({"spce": {}})", Errc::unknown_name, "did you mean spec?"},
        Case{"predict", "[]", Errc::bad_value, "expected a map"}, Case{"predict", "{", Errc::bad_file, "question"},
        Case{"predict", question_about(R"("/etc/passwd")"), Errc::bad_value, "neither files nor the hub are"},
        Case{"predict", question_about("null"), Errc::usage, "which model?"},
        Case{"plan", question_about(kSmall, R"(, "plan": {"goal": "fastest", "largest": "seq"})"), Errc::usage,
             "four questions"},
        Case{"explain", question_about(kSmall, R"(, "by": "modul")"), Errc::bad_value, "module"},
        Case{"html", R"({"report": "{}"})", Errc::bad_file, "report"}}) {
    const Answer found = answer(wrong.topic, wrong.question, sample_data());
    EXPECT_EQ(found.error, wrong.code) << found.text;
    EXPECT_THAT(found.text, HasSubstr(wrong.text));
    EXPECT_THAT(found.text, HasSubstr(R"("bug":false)"));
  }
}

TEST(Answer, SaysWhatCouldBeCaptured) {
  EXPECT_THAT(answer("predict", question_about(R"({"model_type": "none_such"})"), sample_data()).text,
              HasSubstr(R"("can_be_captured":true)"));
  const Answer convolved = answer(
      "predict",
      R"({"spec": {"images": 1, "gpu": "l4", "model": {"model_type": "vit", "patch_size": 10, "image_size": 70}}})",
      sample_data());
  EXPECT_THAT(convolved.text, HasSubstr("cuDNN was not asked: `tidemark predict` asks it"));
  EXPECT_THAT(convolved.text, HasSubstr(R"("can_be_captured":true)"));
}

TEST(ReadQuestion, NamesTheLineOfAConfiguration) {
  const Value asked = io::value_from_json(
      R"({"spec": {"gpu": "l4"}, "config": {"text": "{\n \"model_type\": 3\n}", "file": "a/config.json"}})",
      "question");
  try {
    read_question(asked, sample_data());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.where(), HasSubstr("a/config.json"));
  }
}

TEST(PlaceOf, CountsCards) {
  const io::Catalogue& cards = sample_data().cards;
  EXPECT_EQ(place_of("h100-80gbx8", cards).card, "h100-80gb");
  EXPECT_EQ(place_of("h100-80gbx8", cards).gpus, 8);
  EXPECT_EQ(place_of("h100-80gb", cards).gpus, 1);
  EXPECT_EQ(place_of("minex2.json", cards).gpus, 1);
  for (const char* both : {"3090x2", "2x3090"}) {  // both sides are numbers
    EXPECT_EQ(place_of(both, cards).card, "3090") << both;
    EXPECT_EQ(place_of(both, cards).gpus, 2) << both;
  }
}

TEST(ProgramNeeded, IsTheNearestRelease) {
  const auto needed = [](const char* model, Value more = Value::Map()) {
    Value question = io::value_from_json(question_about(model), "question");
    question.set("spec", merged(*question.find("spec"), std::move(more)));
    return program_needed(question, sample_data());
  };
  const auto of = [](const char* release) { return Value(Value::Map{{"transformers", release}}); };
  EXPECT_EQ(needed(R"({"model_type": "granite"})"), "5.23.0/granite");
  EXPECT_EQ(needed(R"({"model_type": "granite"})", of("5.17.2")), "5.17.0/granite");
  EXPECT_EQ(needed(R"({"model_type": "none_such"})"), std::nullopt);
  EXPECT_EQ(needed(kSmall), "5.23.0/llama");
  EXPECT_EQ(needed(kSmall, of("5.24.0")), "5.23.0/llama");
  // What tells classes apart has a program of its own, if there is one.
  EXPECT_EQ(needed(R"({"model_type": "biogpt", "architectures": ["BioGptForSequenceClassification"]})"),
            "5.17.0/biogpt.sequence_classification");
  EXPECT_EQ(needed(R"({"model_type": "biogpt"})", Value::Map{{"head", "sequence_classification"}}),
            "5.17.0/biogpt.sequence_classification");
}

}  // namespace
}  // namespace tidemark::answers
