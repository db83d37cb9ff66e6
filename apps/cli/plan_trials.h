// The trials of a search: each is a `tidemark run` of the command with its values filled in.
#pragma once
#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "environment.h"
#include "estimate/report.h"
#include "live_line.h"
#include "plan/varied.h"
#include "plan/vary.h"

namespace tidemark::cli {

/// A run that has ended with a verdict.
struct Trial {
  vary::Point point;
  vary::Outcome outcome;
  std::int64_t peak_bytes = 0;  // of the device; where memory ran out, what was in use and what was asked for
  std::string verdict;
  double seconds = 0;
};

/// What the verdict holds against the card's size: the peak and its margin, where an interval is known its upper end.
vary::Outcome outcome_of(const Report& report);

/// The search cannot go on.
struct SearchEnded {
  int exit_code;
};

class Trials {
 public:
  struct Setup {
    std::vector<std::string> run;      // options of `tidemark run`
    std::vector<std::string> command;  // with {NAME}s
    std::vector<vary::Varied> varied;
    std::size_t at_once = 1;
    bool is_live = false;   // a line that rewrites itself is shown
    bool is_quiet = false;  // nor is one for each run
  };

  Trials(Setup setup, const Environment& environment, const std::filesystem::path& folder)
      : setup_(std::move(setup)), environment_(environment), folder_(folder) {}

  /// Throws SearchEnded, of which it has said why.
  std::vector<vary::Outcome> run(const std::vector<vary::Point>& points);
  const std::vector<Trial>& done() const { return done_; }

 private:
  struct Going {
    const vary::Point* point;
    std::filesystem::path report, output;
    std::optional<Trial> ended;
  };

  void run_together(std::vector<Going>& group);
  std::size_t together() const;
  std::vector<std::string> command_of(const Going& going) const;
  bool take(Going& going, int exit_code, double seconds);
  void fail(const Going& going, int exit_code);
  void show(const std::vector<Going>& group, double seconds);

  const Setup setup_;
  const Environment environment_;
  const std::filesystem::path folder_;
  std::vector<Trial> done_;
  std::size_t started_ = 0;
  std::int64_t largest_rss_bytes_ = 0;  // of a run, on the host
  LiveLine line_;
  std::optional<SearchEnded> end_;
};

}  // namespace tidemark::cli
