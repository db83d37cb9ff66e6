// One rank of many, alone; or all of them, one after another.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "child.h"
#include "environment.h"
#include "estimate/report.h"

namespace tidemark::cli {

/// --gpus, --gpus-per-node, --rank, --all-ranks.
struct WorldOptions {
  std::int64_t gpus = 1;
  std::int64_t gpus_per_node = 0;  // 0: all on one node
  std::int64_t rank = 0;
  bool all_ranks = false;

  std::int64_t per_node() const { return gpus_per_node > 0 ? gpus_per_node : gpus; }
};

/// Throws Error{bad_value}.
void check_world(const WorldOptions& world);
/// What every process of the program must know of its world; nothing for a world of one.
void set_world(Environment& environment, const WorldOptions& world);

/// A rank that has run: how it ended, and its report unless it never used CUDA.
struct RankRun {
  ChildResult child;
  std::optional<Report> report;
};

/// Runs ranks, each as the whole program once more.  A rank that awaits whole numbers of another (the sizes of what
/// comes, a pickled object) ends there; the other runs first, unseen, what it sends is kept, and then the rank runs
/// again.  Where each is stopped when its own peak has settled, none is stopped before a step that another has reached.
class Ranks {
 public:
  /// Runs the program as a rank whose files go to `folder`; its output goes to a file there when it is `unseen`.
  using Start = std::function<ChildResult(const Environment&, const std::filesystem::path& folder, bool unseen)>;

  Ranks(const WorldOptions& world, const Environment& environment, const std::filesystem::path& folder, Start start)
      : world_(world), environment_(environment), folder_(folder), start_(std::move(start)) {}

  /// Throws Error{unsupported} for what cannot be known from one rank alone, and what the program's own part refuses.
  RankRun run(std::int64_t rank, bool unseen);
  /// Whether `rank` was stopped before a step that another rank has reached since: it has to run again.
  bool lags(std::int64_t rank) const;

 private:
  std::optional<RankRun> attempt(std::int64_t rank, bool unseen);
  RankRun start(std::int64_t rank, bool unseen);
  bool was_stopped_by_us(std::int64_t rank) const;
  std::filesystem::path folder_of(std::int64_t rank) const;
  void keep_files_apart(Environment& environment, std::int64_t rank, bool unseen) const;
  std::size_t messages_kept() const;

  const WorldOptions world_;
  const Environment environment_;
  const std::filesystem::path folder_;
  const Start start_;
  std::set<std::int64_t> awaited_;                // ranks that are being run for the sake of another
  std::map<std::int64_t, std::int64_t> stopped_;  // after how many steps a rank that has run was stopped
  std::int64_t at_least_ = 0;                     // steps that no rank is stopped before
};

}  // namespace tidemark::cli
