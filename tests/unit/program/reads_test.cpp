#include "program/reads.h"

#include <gtest/gtest.h>

#include "io/value_json.h"

namespace tidemark {
namespace {

Reads reads_of(const char* line) {
  LineReader reader(line, "llava:9");
  return read_reads(reader);
}

std::vector<std::string> unread(const char* config, const std::vector<std::string>& used = {}) {
  const std::vector<Reads> reads{reads_of("hidden_size model_type text_config"),
                                 reads_of("text_config as llama: head_dim model_type rope_scaling")};
  std::vector<std::string> told;
  for (const UnreadKey& one : unread_keys(io::value_from_json(config, "config.json"), reads, used))
    told.push_back(one.path + " " + one.nearest);
  return told;
}

TEST(Reads, AreOfTheWholeOrOfAPart) {
  EXPECT_EQ(reads_of("hidden_size vocab_size").keys, (std::vector<std::string>{"hidden_size", "vocab_size"}));
  const Reads part = reads_of("text_config as gpt-sw3: n_embd");
  EXPECT_EQ(part.part, "text_config");
  EXPECT_EQ(part.model_type, "gpt-sw3");
  EXPECT_EQ(part.keys, std::vector<std::string>{"n_embd"});
}

TEST(UnreadKeys, AreThoseOfNoClassWithTheNearestThatIsMissing) {
  EXPECT_EQ(unread(R"({"model_type": "llava", "hidden_sizes": 3})"),
            std::vector<std::string>{"hidden_sizes hidden_size"});
  EXPECT_EQ(unread(R"({"hidden_size": 2, "hidden_sizes": 3})"), std::vector<std::string>{"hidden_sizes "});
}

TEST(UnreadKeys, OfAPartAreThoseOfItsClass) {
  EXPECT_EQ(unread(R"({"text_config": {"head_dim": 2, "hidden_size": 3}})"),
            std::vector<std::string>{"text_config.hidden_size "});
  EXPECT_TRUE(unread(R"({"text_config": {"model_type": "phi", "n_embd": 3}})").empty())
      << "what a part of another class reads is not known";
}

TEST(UnreadKeys, AreNotTheProgramsOwn) {
  EXPECT_TRUE(unread(R"({"rope": {"type": "default"}, "n_embd": 3})", {"rope.type", "n_embd"}).empty());
  EXPECT_TRUE(unread_keys(io::value_from_json(R"({"n_embd": 3})", "config.json"), {}, {}).empty());
}

}  // namespace
}  // namespace tidemark
