#include "plan/oracle.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "estimate/all_ranks.h"
#include "estimate/device.h"
#include "estimate/strategies.h"
#include "memory/driver_memory.h"
#include "program/config_names.h"

namespace tidemark::plan {
namespace {

Seen seen_of(const Report& report) {
  Seen seen;
  seen.fits = report.fits == true;
  seen.peak = report.peak;
  if (report.margin) seen.margin_bytes = report.margin->bytes;
  return seen;
}

/// Of Adagrad nothing is concluded: it makes its states with the optimizer, as its implementation wants them
/// (train/adagrad.cpp).
void add_end(Seen& seen, const OutOfMemoryReport& end, const Spec& spec, const Card& card) {
  const bool is_pass = end.step == 1 && (end.phase == Phase::forward || end.phase == Phase::backward);
  if (spec.optimizer == OptimizerName::adagrad || (end.step != 0 && !is_pass)) return;
  seen.ran_out_in = is_pass ? Moment::passes : Moment::loading;
  const std::int64_t room_bytes = card.total_bytes - card.driver_reserved_bytes - taken_at_start_bytes(card);
  seen.no_settings_help = end.allocated_bytes + end.requested_bytes > room_bytes;
}

/// A rank of each stage of a pipeline; for all else rank 0 stands until an answer is confirmed.
std::vector<std::int64_t> ranks_to_search(const Spec& spec) {
  std::vector<std::int64_t> ranks;
  const std::int64_t stages = spec.pp ? spec.pp->degree : 1;
  for (std::int64_t stage = 0; stage < stages; ++stage) ranks.push_back(stage * (spec.gpus / stages));
  return ranks;
}

/// The model alone on one GPU that never fills up, for one pass.
Spec alone_of(const Spec& spec) {
  Spec alone = with_parallel(spec, Parallel::none);
  alone.dtype = computed_dtype(spec);
  alone.batch = samples_per_pass(spec);
  alone.gpus = alone.grad_accumulation = alone.steps = 1;
  alone.gpus_per_node = alone.rank = 0;
  alone.tp.reset();
  alone.cp.reset();
  alone.pp.reset();
  alone.allocator.clear();
  alone.max_grad_norm.reset();
  // A plain SGD makes no states and no temporaries, so that what is counted is the pass: step_time() has the optimizer.
  alone.optimizer = OptimizerName::sgd;
  alone.optimizer_impl = OptimizerImpl::automatic;
  alone.momentum = 0;
  alone.weight_decay.reset();
  alone.amsgrad = alone.maximize = alone.nesterov = alone.centered = alone.grad_scaler = false;
  return alone;
}

/// A number of the configuration, or of the part of it that is the language model, by any of its names.
std::int64_t size_in(const Value& config, std::span<const std::string_view> names) {
  for (const Value* part : {config.find("text_config"), &config})
    for (const std::string_view name : names)
      if (const Value* found = part ? part->find(name) : nullptr)
        if (const std::int64_t* number = found->as_integer()) return *number;
  return 0;
}

/// Of a configuration that leaves its sizes to defaults, or names them in yet another way: 12 layers hidden_size^2
/// parameters (arXiv 2001.08361, 2.1), of the usual proportion of 128 to a layer (as Llama 7B and GPT-3 175B have it).
void guess_shape(const Spec& spec, PassWork& pass) {
  const double elements = static_cast<double>(pass.work.parameter_bytes) / (spec.dtype == WeightDtype::fp32 ? 4 : 2);
  const double layers = std::max(1.0, std::round(std::cbrt(elements / (12.0 * 128 * 128))));
  pass.layers = static_cast<std::int64_t>(layers);
  pass.hidden_size = 128 * pass.layers;
}

/// What cannot be simulated is refused when its turn comes.
PassWork counted(const Engine& engine, const Spec& alone) {
  PassWork pass{};
  try {
    const auto programs = engine.programs(alone);
    const Value& config = programs->empty() ? engine.model_config : programs->front().config;
    pass.layers = size_in(config, kLayerNames);
    pass.hidden_size = size_in(config, kWidthNames);
    PredictOptions options;
    options.interval = false;
    options.programs = *programs;
    options.ask_cudnn = engine.ask_cudnn;
    options.work = &pass.work;
    predict(alone, engine.model_config, without_end(engine).card, options);
  } catch (const Error&) {
  }
  if (pass.layers == 0 || pass.hidden_size == 0) guess_shape(alone, pass);
  return pass;
}

/// The work of one pass is counted once for all candidates that compute the same.
class Times {
 public:
  explicit Times(const Engine& engine) : engine_(engine) {}

  StepTime operator()(const Spec& spec) {
    return step_time(spec, of_pass(alone_of(spec)),
                     {engine_.card, engine_.efficiency, engine_.network_bytes_per_s, engine_.parts_between_stages});
  }

 private:
  /// The first that asks simulates, and the others wait for it.
  const PassWork& of_pass(const Spec& alone) {
    std::shared_future<PassWork> known;
    std::promise<PassWork> mine;
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      auto found = std::find_if(passes_.begin(), passes_.end(), [&](const auto& pass) { return pass.first == alone; });
      is_first = found == passes_.end();
      if (is_first) found = passes_.emplace(passes_.end(), alone, mine.get_future().share());
      known = found->second;
    }
    if (is_first) mine.set_value(counted(engine_, alone));
    return known.get();  // lives as long as passes_
  }

  const Engine& engine_;
  std::mutex mutex_;
  std::deque<std::pair<Spec, std::shared_future<PassWork>>> passes_;  // a few, whatever the number of candidates
};

/// The rank of `ranks` that holds most.  `others` are asked where these fit, or `whole`.
Report report_of(const Engine& engine, const Spec& spec, PredictOptions options, std::span<const std::int64_t> ranks,
                 std::span<const std::int64_t> others = {}, bool whole = false) {
  const auto programs = engine.programs(spec);
  options.programs = *programs;
  options.ask_cudnn = engine.ask_cudnn;
  AllRanks all;
  add_ranks(all, spec, ranks, engine.model_config, engine.card, options);
  if (whole || all.fit()) add_ranks(all, spec, others, engine.model_config, engine.card, options);
  Report report = all.finish();
  if (engine.keep_margin) engine.keep_margin(report);
  return report;
}

Report begun(const Engine& engine, const Spec& spec, std::int64_t passes = 0) {
  PredictOptions options;
  options.interval = false;
  options.passes = passes;
  return report_of(engine, spec, options, ranks_to_search(spec));
}

Seen simulate(const Engine& engine, const Spec& spec, std::int64_t passes = 0) {
  try {
    const Report report = begun(engine, spec, passes);
    Seen seen = seen_of(report);
    if (report.oom) add_end(seen, *report.oom, spec, engine.card);
    return seen;
  } catch (const Error& error) {
    if (error.code() == Errc::io) throw;
    Seen seen;
    seen.refusal = error.where().empty() ? error.message() : error.where() + ": " + error.message();
    return seen;
  }
}

/// Of all ranks, or beyond kMostRanks of them of the first and last of each coordinate, in every order of addresses.
/// Unless `whole`, it ends where the ranks that are searched do not fit.
Seen confirmed(const Engine& engine, const Spec& spec, bool whole) {
  const std::vector<std::int64_t> first = ranks_to_search(spec), all = kinds_of_ranks(spec);
  std::vector<std::int64_t> others;
  std::set_difference(all.begin(), all.end(), first.begin(), first.end(), std::back_inserter(others));
  const auto report = std::make_shared<const Report>(report_of(engine, spec, {}, first, others, whole));
  Seen seen = seen_of(*report);
  seen.report = report;
  return seen;
}

}  // namespace

void throw_refusal(const Engine& engine, const Spec& spec) { begun(engine, spec); }

Engine without_end(const Engine& engine) {
  Engine other = engine;
  other.card.total_bytes = DriverMemory::kMostBytes;
  return other;
}

PassWork work_of_pass(const Engine& engine, const Spec& spec) { return counted(engine, alone_of(spec)); }

std::vector<std::int64_t> kinds_of_ranks(const Spec& spec) {
  std::set<std::int64_t> ranks;
  if (spec.gpus <= kMostRanks) {
    for (std::int64_t rank = 0; rank < spec.gpus; ++rank) ranks.insert(rank);
    return {ranks.begin(), ranks.end()};
  }
  const MeshPlace mesh = place_of(spec);
  const std::int64_t per_stage = mesh.parts * mesh.shards * mesh.copies;
  for (std::int64_t stage = 0; stage < mesh.stages; ++stage)
    for (const std::int64_t shard : {std::int64_t{0}, std::int64_t{1} % mesh.shards, mesh.shards - 1})
      for (const std::int64_t part : {std::int64_t{0}, mesh.parts - 1})
        ranks.insert(stage * per_stage + shard * mesh.parts + part);
  return {ranks.begin(), ranks.end()};
}

Oracle make_oracle(const Engine& engine) {
  const auto times = std::make_shared<Times>(engine);
  return {.simulate = [&engine](const Spec& spec) { return simulate(engine, spec); },
          .begin = [&engine](const Spec& spec) { return simulate(engine, spec, 1); },
          .confirm = [&engine](const Spec& spec) { return confirmed(engine, spec, false); },
          .tell = [&engine](const Spec& spec) { return confirmed(engine, spec, true); },
          .time = [times](const Spec& spec) { return (*times)(spec); }};
}

}  // namespace tidemark::plan
