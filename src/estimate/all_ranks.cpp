#include "estimate/all_ranks.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/in_parallel.h"

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

bool AllRanks::fit() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.second.fits == true; });
}

void add_ranks(AllRanks& all, const Spec& spec, std::span<const std::int64_t> ranks, const Value& model_config,
               const Card& card, const PredictOptions& options) {
  std::mutex mutex;
  in_parallel(ranks.size(), [&](std::size_t number) {
    Spec one = spec;
    one.rank = ranks[number];
    Report report = predict(one, model_config, card, options);
    const std::lock_guard lock(mutex);
    all.add(one.rank, std::move(report));
  });
}

Report predict_ranks(const Spec& spec, std::span<const std::int64_t> ranks, const Value& model_config, const Card& card,
                     const PredictOptions& options) {
  AllRanks all;
  add_ranks(all, spec, ranks, model_config, card, options);
  return all.finish();
}

Report predict_all_ranks(const Spec& spec, const Value& model_config, const Card& card, const PredictOptions& options) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(spec.gpus));
  std::iota(ranks.begin(), ranks.end(), 0);
  return predict_ranks(spec, ranks, model_config, card, options);
}

}  // namespace tidemark
