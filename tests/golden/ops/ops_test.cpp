// Every recorded call: the same allocations, in the same order, and the same frees between any two of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "../recordings.h"
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

const Recordings& recordings() {
  static const Recordings all(recordings_folder(TIDEMARK_RECORDINGS), ".json");
  return all;
}

Call call_named(const std::string& name) {
  for (const NamedCall& named : named_calls())
    if (named.name == name) return named.call;
  throw std::invalid_argument("there is no call of " + name + " in calls.cpp");
}

class Operation : public testing::TestWithParam<RecordedCase> {};

TEST_P(Operation, AllocatesAsPyTorchDoes) {
  const Call call_of = call_named(GetParam().name);
  const io::Json cases = io::parse_json(recordings().text(GetParam()), GetParam().name);
  int different = 0, number = 0;
  for (const io::Json& recorded : cases) {
    ++number;
    for (const bool hand_over : {false, true}) {
      std::string found;
      try {
        found = compare(call_of, recorded, card_named(recorded["card"]), torch_rules(GetParam().torch), hand_over);
      } catch (const std::exception& error) {
        found = error.what();
      }
      if (found.empty()) continue;
      io::Json call = recorded;
      for (const char* key : {"y", "forward", "drop", "backward"}) call.erase(key);
      if (++different <= 5 && GetParam().open.empty())
        ADD_FAILURE() << "case " << number << ": " << call.dump() << "\n" << found;
      break;
    }
  }
  if (GetParam().open.empty())
    EXPECT_EQ(different, 0) << "of " << cases.size() << " cases";
  else
    EXPECT_NE(different, 0) << "it is predicted now: take it out of torch-RELEASE.open.txt";
}

TEST(Operations, AreListedAndRecorded) {
  std::set<std::string> listed, called;
  for (const OpEntry& entry : op_entries()) listed.insert(entry.name);
  for (const NamedCall& call : named_calls()) called.insert(call.name);
  EXPECT_EQ(listed, called);
  for (const std::string& name : listed)
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(TIDEMARK_RECORDINGS) / (name + ".json")))
        << "record it: tools/trace/record_ops.py --only " << name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Operation, testing::ValuesIn(recordings().cases()),
                         [](const auto& recorded) { return recorded.param.told(); });

}  // namespace
}  // namespace tidemark
