// Recordings of a release: the base's, edited.
#include <gtest/gtest.h>

#include <fstream>

#include "../recordings.h"

namespace tidemark {
namespace {

/// The inverse of tools/trace/differences.py, edits(), by hand.
TEST(Edited, FollowsTheScriptOfDiff) {
  const std::string base = "1\n2\n3\n";
  EXPECT_EQ(edited(base, ""), base);
  EXPECT_EQ(edited(base, "d1 3\n"), "");
  EXPECT_EQ(edited("", "a0 2\nx\ny\n"), "x\ny\n");
  EXPECT_EQ(edited(base, "a0 1\n0\na3 1\n4\n"), "0\n1\n2\n3\n4\n");
  EXPECT_EQ(edited(base, "d2 1\na2 2\nd9 9\na0 1\n"), "1\nd9 9\na0 1\n3\n");
  EXPECT_EQ(edited(base, "d1 1\nd3 1\na3 1\nlast\n"), "2\nlast\n");
}

class RecordingsOfReleases : public testing::Test {
 protected:
  // gzip's reader takes plain text, too.
  void write(const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; }
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(RecordingsOfReleases, AreTheBasesUnlessTheyDiffer) {
  write("adamw.txt.gz", "torch 2.11.0\n+512\n-512\n");
  write("gemini.txt.gz", "torch 2.11.0\n+1\n");
  write("sgd.txt.gz", "torch 2.11.0\n+2\n");
  write("torch-2.15.0.diff.gz",
        "base 2.11.0\nrelease 2.15.0\nwithout gemini\ncase adamw\na2 1\n+1024\ncase muon\na0 2\n+3\ncase of muon\n");
  const Recordings recordings(folder);
  std::vector<std::string> told;
  std::map<std::string, std::string> texts;
  for (const RecordedCase& recorded : recordings.cases()) {
    told.push_back(recorded.told() + (recorded.is_base ? " base" : recorded.differs ? " differs" : ""));
    texts[recorded.told()] = recordings.text(recorded);
  }
  EXPECT_EQ(told, (std::vector<std::string>{"adamw_in_2_11_0 base", "gemini_in_2_11_0 base", "sgd_in_2_11_0 base",
                                            "adamw_in_2_15_0 differs", "muon_in_2_15_0 differs", "sgd_in_2_15_0"}));
  EXPECT_EQ(texts["adamw_in_2_11_0"], "torch 2.11.0\n+512\n-512\n");
  EXPECT_EQ(texts["adamw_in_2_15_0"], "torch 2.15.0\n+512\n+1024\n-512\n");
  EXPECT_EQ(texts["muon_in_2_15_0"], "+3\ncase of muon\n");
  EXPECT_EQ(texts["sgd_in_2_15_0"], "torch 2.15.0\n+2\n");
}

TEST_F(RecordingsOfReleases, MayBeOfAnotherEnding) {
  write("add.json", "[]\n");
  write("CMakeLists.txt", "");
  const Recordings recordings(folder, ".json");
  ASSERT_EQ(recordings.cases().size(), 1U);
  EXPECT_EQ(recordings.text(recordings.cases()[0]), "[]\n");
}

}  // namespace
}  // namespace tidemark
