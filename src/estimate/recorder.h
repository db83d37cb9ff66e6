// Writes down what a run does, phase by phase, and makes a Report of it.
#pragma once
#include "estimate/report.h"
#include "tensor/run.h"

namespace tidemark {

class Recorder {
 public:
  explicit Recorder(Run& run) : run_(run) {}

  /// A phase of a step (from 1; 0 is loading, which is no step of the report) is over.
  void end_phase(std::int64_t step, Phase phase);
  void assume(std::string what) { assumptions_.push_back({.what = std::move(what), .where = {}}); }
  /// For an assumption that moves the peak by over 1 % where it does not hold.
  void assume_first(std::string what) {
    assumptions_.push_back({.what = std::move(what), .where = {}, .moves_peak = true});
  }
  void count_trained(std::int64_t parameters) { trained_parameters_ = parameters; }
  /// Peaks, steps, timeline and what is live at the peak.
  void fill(Report& report) const;
  /// Bytes of each module's tensors at the end of loading, not rounded.
  std::vector<NamedBytes> loaded() const;

 private:
  void fill_at_peak(Report& report) const;
  std::pair<std::int64_t, Phase> place_of(std::int64_t event) const;

  struct End {
    std::int64_t event, step;
    Phase phase;
  };
  Run& run_;
  std::vector<StepReport> steps_;
  std::vector<End> ends_;
  std::vector<Assumption> assumptions_;
  std::optional<std::int64_t> trained_parameters_;
};

std::string_view name_of(Category category);

}  // namespace tidemark
