#include "estimate/generation.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "io/value_json.h"

namespace tidemark {
namespace {

Spec spec_of_generation(const char* keys) { return read_spec(io::value_from_json(keys, "test")); }
Value config_of(const char* text) { return io::value_from_json(text, "config.json"); }

/// Programs whose main body changes past `windows`, and how often one is read.
struct Bound {
  std::vector<std::int64_t> windows;
  int reads = 0;

  Program operator()(const Spec& spec) {
    ++reads;
    Program program;
    program.main = "Model#1";
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (spec.seq > windows[i]) program.main = "Model#" + std::to_string(i + 2);
    program.symbols = {"S"};
    program.captured_values = {spec.seq};
    EXPECT_EQ(spec.head, "decode");
    return program;
  }
};

std::vector<std::int64_t> starts_of(const Spec& spec, Bound& bound) {
  std::vector<std::int64_t> starts;
  for (const Program& program : decode_programs(spec, {}, std::ref(bound)))
    starts.push_back(program.captured_values[0]);
  return starts;
}

TEST(DecodePrograms, OneHoldsWithoutWindow) {
  Bound bound;
  EXPECT_EQ(starts_of(spec_of_generation(R"({"seq": 100, "generate": 1000})"), bound), std::vector<std::int64_t>{101});
}

TEST(DecodePrograms, EachWindowBeginsAnother) {
  Bound bound{{128, 300}};
  const auto starts = starts_of(spec_of_generation(R"({"seq": 100, "generate": 400})"), bound);
  EXPECT_EQ(starts, (std::vector<std::int64_t>{101, 129, 301}));
  EXPECT_LT(bound.reads, 30);
}

TEST(DecodePrograms, WindowAtEitherEnd) {
  Bound first{{101}}, last{{198}}, behind{{199}};
  const Spec spec = spec_of_generation(R"({"seq": 100, "generate": 100})");  // the last pass has 199 tokens
  EXPECT_EQ(starts_of(spec, first), (std::vector<std::int64_t>{101, 102}));
  EXPECT_EQ(starts_of(spec, last), (std::vector<std::int64_t>{101, 199}));
  EXPECT_EQ(starts_of(spec, behind), std::vector<std::int64_t>{101});
}

TEST(DecodePrograms, PromptGivesTheOnlyToken) {
  Bound bound;
  EXPECT_TRUE(starts_of(spec_of_generation(R"({"seq": 100, "generate": 1})"), bound).empty());
  EXPECT_EQ(bound.reads, 0);
}

TEST(PromptTokens, DefaultLeavesRoomForNewOnes) {
  const Value config = config_of(R"({"max_position_embeddings": 1024})");
  EXPECT_EQ(prompt_tokens(spec_of_generation(R"({"generate": 24})"), config), 1000);
  EXPECT_EQ(prompt_tokens(spec_of_generation(R"({"generate": 24, "seq": 7})"), config), 7);
  EXPECT_EQ(prompt_tokens(spec_of_generation(R"({"generate": 24})"), config_of("{}")), 2024);
}

class RefusedBesideGenerate : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(RefusedBesideGenerate, NamesTheField) {
  try {
    spec_of_generation(GetParam().first);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.where().find(GetParam().second), std::string::npos) << error.where();
    EXPECT_FALSE(error.hint().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Options, RefusedBesideGenerate,
                         testing::Values(std::pair(R"({"generate": 8, "gpus": 2, "parallel": "ddp"})", "generate"),
                                         std::pair(R"({"generate": 8, "images": 1})", "images"),
                                         std::pair(R"({"generate": 8, "loop": "sft_trainer"})", "generate"),
                                         std::pair(R"({"generate": 8, "checkpointing": "reentrant"})", "generate"),
                                         std::pair(R"({"generate": 8, "autocast": "bf16"})", "generate"),
                                         std::pair(R"({"generate": 8, "use_cache": false})", "use_cache"),
                                         std::pair(R"({"generate": 8, "padding": true})", "padding"),
                                         std::pair(R"({"generate": 8, "attn": "eager"})", "attn")));

}  // namespace
}  // namespace tidemark
