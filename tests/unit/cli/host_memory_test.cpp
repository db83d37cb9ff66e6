#include "host_memory.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace tidemark::cli {
namespace {

class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() {
    std::filesystem::create_directories(folder_.path() / "self");
    std::filesystem::create_directories(folder_.path() / "job");
    available(8 << 20);
    folder_.write("vmstat", "pgfault 77\noom_kill 3\nballoon_inflate 0\n");
  }
  void available(std::int64_t kib) {
    folder_.write("meminfo", "MemTotal:       16777216 kB\nMemFree:          1 kB\nMemAvailable:   " +
                                 std::to_string(kib) + " kB\n");
  }
  HostMemoryWatch watch() const { return HostMemoryWatch(folder_.path(), folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(HostMemoryTest, IsWhatTheKernelSays) {
  EXPECT_EQ(watch().now()->available_bytes, std::int64_t{8} << 30);
  EXPECT_EQ(watch().now()->total_bytes, std::int64_t{16} << 30);
}

TEST_F(HostMemoryTest, IsThatOfTheControlGroupWhereThatIsLess) {
  folder_.write("self/cgroup", "0::/job\n");
  folder_.write("job/memory.max", "max\n");
  folder_.write("job/memory.current", "3000\n");
  EXPECT_EQ(watch().now()->total_bytes, std::int64_t{16} << 30);
  folder_.write("job/memory.max", "4000\n");
  folder_.write("job/memory.stat", "anon 2500\ninactive_file 500\n");
  EXPECT_EQ(watch().now()->total_bytes, 4000);
  EXPECT_EQ(watch().now()->available_bytes, 1500);
}

TEST_F(HostMemoryTest, WarnsOnce) {
  HostMemoryWatch one = watch();
  EXPECT_EQ(one.warning(), std::nullopt);
  available(1 << 20);
  EXPECT_EQ(one.warning(), std::nullopt);
  available((1 << 20) - 1);
  const std::string said = one.warning().value_or("nothing");
  EXPECT_EQ(said.find("the host's memory runs short: 1.00 GiB of 16.0 GiB are left"), 0U) << said;
  EXPECT_EQ(one.warning(), std::nullopt);
}

TEST_F(HostMemoryTest, SeesThatTheKernelHasKilled) {
  const HostMemoryWatch one = watch();
  EXPECT_FALSE(one.has_seen_a_kill());
  folder_.write("vmstat", "oom_kill 4\n");
  EXPECT_TRUE(one.has_seen_a_kill());
}

TEST_F(HostMemoryTest, CountsTheKillsOfItsOwnGroupAlone) {
  folder_.write("self/cgroup", "0::/job\n");
  folder_.write("job/memory.events", "low 0\noom 1\noom_kill 1\n");
  const HostMemoryWatch one = watch();
  folder_.write("vmstat", "oom_kill 9\n");
  EXPECT_FALSE(one.has_seen_a_kill());
  folder_.write("job/memory.events", "low 0\noom 2\noom_kill 2\n");
  EXPECT_TRUE(one.has_seen_a_kill());
}

TEST_F(HostMemoryTest, SaysNothingWhereTheKernelDoesNot) {
  HostMemoryWatch nowhere(folder_.path() / "none", folder_.path() / "none");
  EXPECT_FALSE(nowhere.now().has_value());
  EXPECT_EQ(nowhere.warning(), std::nullopt);
  EXPECT_FALSE(nowhere.has_seen_a_kill());
}

}  // namespace
}  // namespace tidemark::cli
