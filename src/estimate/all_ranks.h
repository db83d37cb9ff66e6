// Every rank of many, one report on all.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "estimate/predict.h"

namespace tidemark {

/// Whether `a` holds more: out of memory above all, then by what is reserved.
bool is_worse(const Report& a, const Report& b);

/// The report on all ranks: that of the one that holds most (the lowest of equals), with a row for each.
class AllRanks {
 public:
  void add(std::int64_t rank, Report report);
  /// Whether all that were added do.
  bool fit() const;
  Report finish();

 private:
  std::map<std::int64_t, RankReport> rows_;
  std::optional<Report> worst_;
  std::int64_t worst_rank_ = 0;
};

/// predict() of some ranks of spec.gpus, over all cores; `options.on_event` must stand that.  Throws as predict() does.
void add_ranks(AllRanks& all, const Spec& spec, std::span<const std::int64_t> ranks, const Value& model_config,
               const Card& card, const PredictOptions& options = {});
Report predict_ranks(const Spec& spec, std::span<const std::int64_t> ranks, const Value& model_config, const Card& card,
                     const PredictOptions& options = {});
/// Of all of them.
Report predict_all_ranks(const Spec& spec, const Value& model_config, const Card& card,
                         const PredictOptions& options = {});

}  // namespace tidemark
