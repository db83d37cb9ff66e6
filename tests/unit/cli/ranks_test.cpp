#include "ranks.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "files.h"
#include "support/throws.h"

namespace tidemark::cli {
namespace {

// Programs of which nothing is real but the files that they leave: what they await, what they send, their report.
class RanksTest : public testing::Test {
 protected:
  RanksTest() {
    std::string pattern = testing::TempDir() + "ranks-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RanksTest() override { std::filesystem::remove_all(folder_); }

  bool has(const std::string& message) const { return std::filesystem::exists(folder_ / "messages" / message); }
  void send(const std::string& message) const { write_file(folder_ / "messages" / message, "x"); }
  static void await(const std::filesystem::path& folder, int from) {
    write_file(folder / "awaits", std::to_string(from) + "\nchannel\n");
  }
  static void report(const std::filesystem::path& folder, int stopped_after_steps = 0) {
    const std::string stopped = stopped_after_steps ? std::to_string(stopped_after_steps) : "null";
    write_file(
        folder / "report-1.json",
        R"({"schema": "tidemark.report/1", "engine": "run", "peak": {"allocated_bytes": 1, "reserved_bytes": 2, "step": 1, "phase": "other"},
            "script": {"command": [], "exit_code": 0, "stopped_after_steps": )" +
            stopped + "}}");
  }

  Ranks ranks(std::int64_t count, Ranks::Start start, const std::string& steps = "auto") const {
    Environment environment;
    environment.set("TIDEMARK_STEPS", steps);
    return {WorldOptions{count, 0, 0, false}, environment, folder_, std::move(start)};
  }
  static int at_least(const Environment& environment) { return std::stoi(*environment.get("TIDEMARK_STEPS_AT_LEAST")); }

  // Rank 0 sends a message in every step and settles after 3; rank 1 awaits one in every step and settles after 5.
  Ranks a_pipeline_that_settles_late(const std::string& steps) {
    return ranks(
        2,
        [this, steps](const Environment& environment, const auto& folder, bool) {
          const int rank = rank_of(environment);
          const int last =
              steps == "auto" ? std::max(at_least(environment), rank == 0 ? 3 : 5) : std::stoi(steps) + rank;
          for (int step = 1; step <= last; ++step) {
            const std::string message = "in" + std::to_string(step);
            if (rank == 0) send(message);
            if (rank == 1 && !has(message)) return await(folder, 0), ChildResult{};
          }
          report(folder, last);
          return ChildResult{};
        },
        steps);
  }
  static int rank_of(const Environment& environment) { return std::stoi(*environment.get("TIDEMARK_RANK")); }

  std::filesystem::path folder_;
};

TEST_F(RanksTest, RunsTheSenderFirstAndUnseen) {
  std::vector<std::pair<int, bool>> runs;
  Ranks pipeline = ranks(3, [&](const Environment& environment, const auto& folder, bool unseen) {
    const int rank = rank_of(environment);
    runs.emplace_back(rank, unseen);
    if (rank > 0 && !has("to" + std::to_string(rank))) {
      await(folder, rank - 1);
    } else {
      send("to" + std::to_string(rank + 1));
      report(folder);
    }
    return ChildResult{};
  });
  EXPECT_TRUE(pipeline.run(2, false).report.has_value());
  EXPECT_EQ(runs, (std::vector<std::pair<int, bool>>{{2, false}, {1, true}, {0, true}, {1, true}, {2, false}}));
}

TEST_F(RanksTest, GoesRoundInACircleForAsLongAsMessagesCome) {
  // 0 sends a, awaits b, sends c, awaits d; 1 awaits a, sends b, awaits c, sends d.
  Ranks two = ranks(2, [&](const Environment& environment, const auto& folder, bool) {
    const int rank = rank_of(environment);
    const std::vector<std::string> mine = rank == 0 ? std::vector<std::string>{"a", "c"}
                                                    : std::vector<std::string>{"b", "d"},
                                   theirs = rank == 0 ? std::vector<std::string>{"b", "d"}
                                                      : std::vector<std::string>{"a", "c"};
    for (std::size_t i = 0; i < 2; ++i) {
      if (rank == 0) send(mine[i]);
      if (!has(theirs[i])) return await(folder, 1 - rank), ChildResult{};
      send(mine[i]);
    }
    report(folder);
    return ChildResult{};
  });
  EXPECT_TRUE(two.run(0, false).report.has_value());
}

TEST_F(RanksTest, RefusesWhatNeverComes) {
  Ranks waiting = ranks(2, [&](const Environment& environment, const auto& folder, bool) {
    await(folder, 1 - rank_of(environment));
    return ChildResult{};
  });
  const auto error = error_of([&] { waiting.run(0, false); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), Errc::unsupported);
  EXPECT_NE(error->message().find("waits for whole numbers from rank"), std::string::npos);
}

TEST_F(RanksTest, StopsAllRanksAfterTheSameStep) {
  Ranks pipeline = a_pipeline_that_settles_late("auto");
  EXPECT_EQ(pipeline.run(1, false).report->script.stopped_after_steps, 5);
  EXPECT_FALSE(pipeline.lags(0));  // it has gone on until what was awaited had been sent
  Ranks in_order = a_pipeline_that_settles_late("auto");
  std::filesystem::remove_all(folder_ / "messages");
  EXPECT_EQ(in_order.run(0, false).report->script.stopped_after_steps, 3);
  EXPECT_EQ(in_order.run(1, false).report->script.stopped_after_steps, 5);
  EXPECT_FALSE(in_order.lags(0));
}

TEST_F(RanksTest, RunsAgainWhatWasStoppedBeforeTheOthers) {
  Ranks apart = ranks(2, [](const Environment& environment, const auto& folder, bool) {
    report(folder, std::max(at_least(environment), rank_of(environment) == 0 ? 3 : 5));
    return ChildResult{};
  });
  apart.run(0, false);
  EXPECT_FALSE(apart.lags(0));
  apart.run(1, true);
  EXPECT_TRUE(apart.lags(0));
  EXPECT_EQ(apart.run(0, true).report->script.stopped_after_steps, 5);
  EXPECT_FALSE(apart.lags(0));
}

TEST_F(RanksTest, NamesTheRemedyWhereTheSenderWasStopped) {
  Ranks pipeline = a_pipeline_that_settles_late("4");
  const auto error = error_of([&] { pipeline.run(1, false); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message(),
            "rank 1 waits for whole numbers from rank 0 (\"channel\"), which rank 0 had not sent when it was stopped "
            "after 4 steps");
  EXPECT_EQ(error->hint(), "with --keep-going, or a larger --steps, every rank goes on for longer");
}

TEST_F(RanksTest, PassesOnWhatTheProgramRefuses) {
  Ranks refusing = ranks(2, [&](const Environment&, const auto& folder, bool) {
    write_file(folder / "refusal", "2\nthe launcher starts 4 processes\nwrite --gpus 4\n");
    return ChildResult{};
  });
  const auto error = error_of([&] { refusing.run(0, false); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), Errc::bad_value);
  EXPECT_EQ(error->message(), "the launcher starts 4 processes");
  EXPECT_EQ(error->hint(), "write --gpus 4");
}

}  // namespace
}  // namespace tidemark::cli
