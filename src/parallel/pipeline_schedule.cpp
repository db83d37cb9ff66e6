#include "parallel/pipeline_schedule.h"

#include <algorithm>
#include <map>

namespace tidemark {
namespace {

using Actions = std::vector<PipelineAction>;
using enum PipelineAction::Kind;

/// ScheduleGPipe._step_microbatches
Actions gpipe(const PipelineShape& shape, std::int64_t stage) {
  Actions actions;
  for (const auto kind : {forward, backward})
    for (std::int64_t i = 0; i < shape.microbatches; ++i) actions.push_back({kind, stage, i});
  return actions;
}

/// Schedule1F1B._step_microbatches
Actions one_f_one_b(const PipelineShape& shape, std::int64_t stage) {
  Actions actions;
  const std::int64_t warmup = std::min(shape.microbatches, shape.stages() - stage);
  std::int64_t forwards = 0, backwards = 0;
  while (forwards < warmup) actions.push_back({forward, stage, forwards++});
  while (backwards < shape.microbatches) {
    actions.push_back({backward, stage, backwards++});
    if (forwards < shape.microbatches) actions.push_back({forward, stage, forwards++});
  }
  return actions;
}

/// ScheduleLoopedBFS._calculate_single_rank_operations
Actions looped_bfs(const PipelineShape& shape, std::int64_t rank) {
  Actions actions;
  std::vector<std::int64_t> stages = stages_of_rank(shape, rank);
  for (const std::int64_t stage : stages)
    for (std::int64_t i = 0; i < shape.microbatches; ++i) actions.push_back({forward, stage, i});
  std::reverse(stages.begin(), stages.end());
  for (const std::int64_t stage : stages)
    for (std::int64_t i = shape.microbatches; i-- > 0;) actions.push_back({backward, stage, i});
  return actions;
}

/// ScheduleInterleaved1F1B._calculate_single_rank_operations and _get_1f1b_rank_ops
Actions interleaved_1f1b(const PipelineShape& shape, std::int64_t rank) {
  const std::int64_t rounds = std::max<std::int64_t>(1, shape.microbatches / shape.ranks);
  const std::int64_t per_round = shape.microbatches / rounds, local = shape.stages_per_rank;
  const std::int64_t all = local * shape.microbatches;
  const std::int64_t warmup = std::min((local - 1) * per_round + 2 * (shape.ranks - 1 - rank), all);
  std::map<std::int64_t, std::int64_t> forwards, backwards;  // so far, by stage
  Actions actions;
  for (std::int64_t op = 0; op < warmup + all; ++op) {
    if (op < all) {
      const std::int64_t stage = (op / per_round) % local * shape.ranks + rank;
      actions.push_back({forward, stage, forwards[stage]++});
    }
    if (op >= warmup) {
      const std::int64_t stage = (local - 1 - (op - warmup) / per_round % local) * shape.ranks + rank;
      actions.push_back({backward, stage, backwards[stage]++});
    }
  }
  return actions;
}

}  // namespace

bool is_single(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::gpipe || schedule == PipelineSchedule::one_f_one_b;
}

std::vector<std::int64_t> stages_of_rank(const PipelineShape& shape, std::int64_t rank) {
  std::vector<std::int64_t> stages;
  for (std::int64_t stage = rank; stage < shape.stages(); stage += shape.ranks) stages.push_back(stage);
  return stages;
}

std::vector<PipelineAction> pipeline_actions(const PipelineShape& shape, std::int64_t rank) {
  switch (shape.schedule) {
    case PipelineSchedule::gpipe: return gpipe(shape, rank);
    case PipelineSchedule::one_f_one_b: return one_f_one_b(shape, rank);
    case PipelineSchedule::looped_bfs: return looped_bfs(shape, rank);
    case PipelineSchedule::interleaved_1f1b: break;
  }
  return interleaved_1f1b(shape, rank);
}

}  // namespace tidemark
