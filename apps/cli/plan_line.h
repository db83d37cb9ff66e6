// How far a plan is, as a line on a terminal that rewrites itself.
#pragma once
#include <memory>
#include <string>

#include "plan/progress.h"

namespace tidemark::cli {

/// Goes away with its last copy.  Where standard error is no terminal, or nobody wants it, nobody is told.
class PlanLine {
 public:
  explicit PlanLine(bool is_quiet);
  ~PlanLine();
  PlanLine(const PlanLine&) = delete;
  PlanLine& operator=(const PlanLine&) = delete;

  /// `of` stands in front of it, such as a card's name.  Must not outlive the line.
  plan::Told told(std::string of = {});
  void clear();

 private:
  bool is_live_, is_shown_ = false;
  double begun_;
};

}  // namespace tidemark::cli
