// How far a plan is, as a line on a terminal.
#pragma once
#include <string>

#include "live_line.h"
#include "plan/progress.h"

namespace tidemark::cli {

/// Where standard error is no terminal, or nobody wants it, nobody is told.
class PlanLine {
 public:
  explicit PlanLine(bool is_quiet);

  /// `of` stands in front of it, such as a card's name.  Must not outlive the line.
  plan::Told told(std::string of = {});
  void clear() { line_.clear(); }

 private:
  bool is_live_;
  double begun_;
  LiveLine line_;
};

}  // namespace tidemark::cli
