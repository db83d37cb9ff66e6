#include "estimate/all_ranks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace tidemark {

bool is_worse(const Report& a, const Report& b) {
  if (a.oom.has_value() != b.oom.has_value()) return a.oom.has_value();
  return a.peak.reserved_bytes > b.peak.reserved_bytes;
}

void AllRanks::add(std::int64_t rank, Report report) {
  rows_[rank] = {rank, report.peak, report.host.pageable_bytes, report.host.pinned_bytes, report.fits};
  const bool equal = worst_ && !is_worse(report, *worst_) && !is_worse(*worst_, report);
  if (worst_ && (equal ? rank > worst_rank_ : is_worse(*worst_, report))) return;
  worst_ = std::move(report);
  worst_rank_ = rank;
}

Report AllRanks::finish() {
  Report all = std::move(*worst_);
  for (auto& [rank, row] : rows_) all.ranks.push_back(std::move(row));
  return all;
}

namespace {

/// predict() of one rank after another, by however many threads call work().
class Ranks {
 public:
  Ranks(const Spec& spec, const Value& model_config, const Card& card, const PredictOptions& options)
      : spec_(spec), model_config_(model_config), card_(card), options_(options) {}

  void work() {
    Spec spec = spec_;
    while ((spec.rank = next_++) < spec.gpus) {
      try {
        Report report = predict(spec, model_config_, card_, options_);
        const std::lock_guard lock(mutex_);
        all_.add(spec.rank, std::move(report));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        next_ = spec.gpus;
      }
    }
  }

  Report finish() {
    if (failure_) std::rethrow_exception(failure_);
    return all_.finish();
  }

 private:
  const Spec& spec_;
  const Value& model_config_;
  const Card& card_;
  const PredictOptions& options_;
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_;
  AllRanks all_;
  std::exception_ptr failure_;
};

}  // namespace

Report predict_all_ranks(const Spec& spec, const Value& model_config, const Card& card, const PredictOptions& options) {
  Ranks ranks(spec, model_config, card, options);
  const auto workers = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, spec.gpus);
  {
    std::vector<std::jthread> others;
    for (std::int64_t i = 1; i < workers; ++i) others.emplace_back([&] { ranks.work(); });
    ranks.work();
  }
  return ranks.finish();
}

}  // namespace tidemark
