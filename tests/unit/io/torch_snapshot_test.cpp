// The files in fuzz/corpus/torch_snapshot: `training` is what `tidemark run --snapshot` wrote, the others one snapshot
// by hand in three protocols: 700 bytes alive, 2,000 allocated and freed before the end, two devices.
#include "io/torch_snapshot.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/throws.h"

namespace tidemark::io {
namespace {

std::string sample(const std::string& name) {
  std::ifstream file(std::filesystem::path(TIDEMARK_SOURCE_DIR) / "fuzz" / "corpus" / "torch_snapshot" / name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TorchSnapshotSample : public testing::TestWithParam<const char*> {};

TEST_P(TorchSnapshotSample, ReadsEveryProtocol) {
  const std::string bytes = sample(GetParam());
  ASSERT_TRUE(is_torch_snapshot(bytes));
  const MemoryRecord record = read_torch_snapshot(bytes, "s");
  EXPECT_EQ(record.requested_bytes, 2700);
  EXPECT_EQ(record.allocated_bytes, 1024 + 2048);
  EXPECT_EQ(record.reserved_bytes, 2 << 20);
  ASSERT_TRUE(record.events);
  EXPECT_EQ(*record.events, (std::vector<MemoryEvent>{{700, false, "aten::mm", "model.0"},
                                                      {2000, false, "train.py:12", "forward"},
                                                      {2000, true, "train.py:12", "forward"}}));
}

INSTANTIATE_TEST_SUITE_P(, TorchSnapshotSample,
                         testing::Values("hand_protocol_2.pickle", "hand_protocol_4.pickle", "hand_protocol_5.pickle"),
                         [](const auto& tested) { return std::string(tested.param).substr(5, 10); });

TEST(TorchSnapshot, ReadsWhatRunWrites) {
  const std::string bytes = sample("training.pickle");
  const MemoryRecord record = read_torch_snapshot(bytes, "s");
  EXPECT_EQ(record.requested_bytes, 236'294'144);
  EXPECT_EQ(record.reserved_bytes, 241'172'480);
  EXPECT_GT(record.events->size(), 50U);
}

TEST(TorchSnapshot, SaysWhatIsMissing) {
  const auto error = error_of([] { read_torch_snapshot("\x80\x02}.", "s.pickle"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "s.pickle: \"device_traces\" is missing (is it a memory snapshot of PyTorch?)");
}

TEST(TorchSnapshot, RefusesImpossibleSizes) {
  std::string bytes = sample("hand_protocol_2.pickle");
  const std::size_t at = bytes.find("total_size");
  ASSERT_NE(at, std::string::npos);
  const std::size_t number = bytes.find('J', at);
  bytes.replace(number + 1, 4, "\xff\xff\xff\xff");
  const auto error = error_of([&] { read_torch_snapshot(bytes, "s"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "\"total_size\" is -1, which is no size");
  EXPECT_EQ(error->where(), "s: segments[0]");
}

}  // namespace
}  // namespace tidemark::io
