// Every recorded call: the same allocations, in the same order, and the same frees between any two of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "io/card_json.h"
#include "ops/index.h"
#include "recorded_case.h"

namespace tidemark {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Card& card_named(const std::string& name) {
  static const io::Catalogue cards = io::read_catalogue(read(TIDEMARK_CARDS), "gpus.json");
  return io::find_card(cards, name);
}

/// The folder of the recordings; another one, of random cases, when the environment names it.
std::filesystem::path folder() {
  const char* other = std::getenv("TIDEMARK_RECORDINGS");
  return other ? other : TIDEMARK_RECORDINGS;
}

/// The release that they are of: what the environment says of another folder.
const TorchRules& torch() {
  const char* other = std::getenv("TIDEMARK_RECORDINGS_TORCH");
  return torch_rules(other ? other : "2.11.0");
}

class Operation : public testing::TestWithParam<NamedCall> {};

TEST_P(Operation, AllocatesAsPyTorchDoes) {
  const std::filesystem::path path = folder() / fmt::format("{}.json", GetParam().name);
  ASSERT_TRUE(std::filesystem::exists(path)) << "record it: tools/trace/record_ops.py --only " << GetParam().name;
  const io::Json cases = io::parse_json(read(path), path.filename());
  int different = 0, number = 0;
  for (const io::Json& recorded : cases) {
    ++number;
    for (const bool hand_over : {false, true}) {
      std::string found;
      try {
        found = compare(GetParam().call, recorded, card_named(recorded["card"]), torch(), hand_over);
      } catch (const std::exception& error) {
        found = error.what();
      }
      if (found.empty()) continue;
      io::Json call = recorded;
      for (const char* key : {"y", "forward", "drop", "backward"}) call.erase(key);
      if (++different <= 5) ADD_FAILURE() << "case " << number << ": " << call.dump() << "\n" << found;
      break;
    }
  }
  EXPECT_EQ(different, 0) << "of " << cases.size() << " cases";
}

TEST(Operations, AreListedAndRecorded) {
  std::set<std::string> listed, called;
  for (const OpEntry& entry : op_entries()) listed.insert(entry.name);
  for (const NamedCall& call : named_calls()) called.insert(call.name);
  EXPECT_EQ(listed, called);
  for (const std::string& name : listed)
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(TIDEMARK_RECORDINGS) / (name + ".json"))) << name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Operation, testing::ValuesIn(named_calls()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tidemark
