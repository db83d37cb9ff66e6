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
  HostMemoryWatch watch() const { return watch({}); }
  HostMemoryWatch watch(std::optional<std::int64_t> allowed_bytes) const {
    return HostMemoryWatch(allowed_bytes, folder_.path(), folder_.path());
  }
  void holds(int pid, std::int64_t anonymous_kib, std::int64_t shared_out_kib) {
    folder_.write(std::to_string(pid) + "/status",
                  "VmRSS:\t 99999999 kB\nRssAnon:\t " + std::to_string(anonymous_kib) + " kB\nRssShmem:\t 24 kB\n");
    folder_.write(
        std::to_string(pid) + "/smaps_rollup",
        "00400000-7fff rollup\nPss_Anon:     " + std::to_string(shared_out_kib) + " kB\nPss_Shmem:    24 kB\n");
  }

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

TEST_F(HostMemoryTest, IsThatOfTheControlGroupOfTheFirstVersionToo) {
  folder_.write("self/cgroup", "7:cpu:/\n5:memory:/job\n0::/\n");
  folder_.write("memory/job/memory.limit_in_bytes", "4000\n");
  folder_.write("memory/job/memory.usage_in_bytes", "3000\n");
  folder_.write("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  folder_.write("memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  const HostMemoryWatch one = watch();
  EXPECT_EQ(one.now()->total_bytes, 4000);
  EXPECT_EQ(one.now()->available_bytes, 1500);
  folder_.write("memory/job/memory.oom_control", "oom_kill 3\n");
  EXPECT_TRUE(one.has_seen_a_kill());
}

TEST_F(HostMemoryTest, EndsAProgramThatHoldsTheMostOfIt) {
  const HostMemoryWatch one = watch();
  holds(7, 8 << 20, (8 << 20) - 24);
  EXPECT_FALSE(one.is_near_its_end());
  available((2 << 20) - 1);
  EXPECT_TRUE(one.is_near_its_end());
  available(512 << 10);
  EXPECT_EQ(one.shortage({7}), std::nullopt);
  available((512 << 10) - 1);
  EXPECT_EQ(
      one.shortage({7}).value_or("").find(
          "the program was ended before the host's memory was used up: it asked for 8.00 GiB, and 512 MiB of 16.0 GiB are left"),
      0U)
      << *one.shortage({7});
  holds(7, 1 << 20, (1 << 20) - 25);
  EXPECT_EQ(one.shortage({7, 8}), std::nullopt) << "others took it";
}

TEST_F(HostMemoryTest, EndsAProgramThatHoldsMoreThanItMay) {
  const HostMemoryWatch one = watch(std::int64_t{2} << 30);
  EXPECT_TRUE(one.is_near_its_end());
  holds(7, 1 << 20, 1 << 20);
  holds(8, (1 << 20) - 48, 1 << 19);
  EXPECT_EQ(one.shortage({7, 8}), std::nullopt);
  holds(8, 1 << 20, 1 << 19);
  EXPECT_EQ(one.shortage({7, 8}), std::nullopt) << "they share what was there when one forked the other";
  holds(8, 1 << 20, 1 << 20);
  EXPECT_EQ(one.shortage({7, 8}).value_or("").find(
                "the program was ended: it asked for 2.00 GiB of the host's memory, and --host-memory allows 2.00 GiB"),
            0U)
      << *one.shortage({7, 8});
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
  HostMemoryWatch nowhere({}, folder_.path() / "none", folder_.path() / "none");
  EXPECT_FALSE(nowhere.now().has_value());
  EXPECT_EQ(nowhere.warning(), std::nullopt);
  EXPECT_FALSE(nowhere.has_seen_a_kill());
}

}  // namespace
}  // namespace tidemark::cli
