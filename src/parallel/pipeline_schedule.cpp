#include "parallel/pipeline_schedule.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

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

/// next_stage_indices of _add_unshard_reshard: the stages that come next.
std::vector<std::int64_t> next_stages(Actions::const_iterator from, Actions::const_iterator end, std::size_t count) {
  std::vector<std::int64_t> stages;
  for (; from != end && stages.size() < count; ++from)
    if (std::ranges::find(stages, from->stage) == stages.end()) stages.push_back(from->stage);
  return stages;
}

/// _add_unshard_reshard
Actions with_unshard_and_reshard(const Actions& compute) {
  constexpr std::size_t kMaxActiveStages = 3;
  std::vector<std::int64_t> active;
  Actions actions;
  for (auto at = compute.begin(); at != compute.end(); ++at) {
    const std::vector<std::int64_t> next = next_stages(at, compute.end(), kMaxActiveStages);
    const auto is_next = [&](std::int64_t stage) { return std::ranges::find(next, stage) != next.end(); };
    for (const std::int64_t stage : active)
      if (!is_next(stage)) actions.push_back({reshard, stage, 0});
    std::erase_if(active, [&](std::int64_t stage) { return !is_next(stage); });
    for (const std::int64_t stage : next) {
      if (std::ranges::find(active, stage) != active.end()) continue;
      active.push_back(stage);
      actions.push_back({unshard, stage, 0});
    }
    actions.push_back(*at);
  }
  for (const std::int64_t stage : active) actions.push_back({reshard, stage, 0});
  return actions;
}

/// Where the last backward pass of a stage is over.  torch: _add_reduce_grad
Actions with_reduction(const Actions& passes, const PipelineShape& shape) {
  std::map<std::int64_t, std::int64_t> backwards;  // so far, by stage
  Actions actions;
  for (const PipelineAction& action : passes) {
    actions.push_back(action);
    if (action.kind == backward && ++backwards[action.stage] == shape.microbatches)
      actions.push_back({reduce_grad, action.stage, 0});
  }
  return actions;
}

/// Of ScheduleGPipe: what was sent is waited for between forward and backward passes.
Actions gpipe_with_messages(const PipelineShape& shape, std::int64_t rank) {
  Actions actions;
  for (const PipelineAction& action : gpipe(shape, rank)) {
    if (action.kind == backward && action.microbatch == 0)
      for (std::int64_t i = 0; i < shape.microbatches; ++i) actions.push_back({output_is_sent, rank, i});
    actions.push_back({action.kind == forward ? receive_input : receive_gradient, rank, action.microbatch});
    actions.push_back(action);
  }
  return actions;
}

/// Of Schedule1F1B: a forward pass in the warm-up waits for what the one before it sent, a backward pass then for what
/// the last forward pass sent.
Actions one_f_one_b_with_messages(const PipelineShape& shape, std::int64_t rank) {
  Actions actions;
  std::int64_t last_forward = -1, first_kept = 0;
  const auto let_go = [&](std::int64_t end) {
    for (; first_kept < end; ++first_kept) actions.push_back({output_is_sent, rank, first_kept});
  };
  for (const PipelineAction& action : one_f_one_b(shape, rank)) {
    if (action.kind == forward) {
      actions.push_back({receive_input, rank, action.microbatch});
      actions.push_back(action);
      last_forward = action.microbatch;
      let_go(last_forward);
    } else {
      actions.push_back({receive_gradient, rank, action.microbatch});
      let_go(last_forward + 1);
      actions.push_back(action);
    }
  }
  return actions;
}

/// What a rank computes waits for what others send: a step of each rank in turn, and a message is received where it has
/// come to by then.
class Exchange {
 public:
  explicit Exchange(const PipelineShape& shape) : shape_(shape) {
    for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
      Actions actions = with_gathering(pipeline_actions(shape, rank), shape);
      waiting_.emplace_back(actions.begin(), actions.end());
    }
    done_.resize(waiting_.size());
    scheduled_.resize(waiting_.size());
  }

  /// _add_send_recv
  Actions of_rank(std::int64_t rank) {
    while (std::ranges::any_of(waiting_, [](const auto& actions) { return !actions.empty(); }))
      for (std::size_t turn = 0; turn < waiting_.size(); ++turn)
        if (!waiting_[turn].empty() && is_ready(waiting_[turn].front(), turn)) schedule(turn);
    return scheduled_[static_cast<std::size_t>(rank)];
  }

 private:
  std::size_t rank_of(std::int64_t stage) const { return static_cast<std::size_t>(stage % shape_.ranks); }

  void add(std::size_t rank, const PipelineAction& action) {
    scheduled_[rank].push_back(action);
    done_[rank].insert({action.kind, action.stage, action.microbatch});
  }

  bool is_ready(const PipelineAction& action, std::size_t rank) const {
    const auto has = [&](PipelineAction::Kind kind, std::int64_t stage) {
      return done_[rank].contains({kind, stage, action.microbatch});
    };
    if (action.kind == forward && action.stage != 0)
      return has(receive_input, action.stage) || has(forward, action.stage - 1);
    if (action.kind == backward && action.stage != shape_.stages() - 1)
      return has(receive_gradient, action.stage) || has(backward, action.stage + 1);
    return true;
  }

  void schedule(std::size_t rank) {
    const PipelineAction action = waiting_[rank].front();
    waiting_[rank].pop_front();
    add(rank, action);
    const std::int64_t to = action.kind == forward ? action.stage + 1 : action.stage - 1;
    if ((action.kind != forward && action.kind != backward) || to < 0 || to == shape_.stages()) return;
    if (rank_of(to) != rank)
      add(rank_of(to), {action.kind == forward ? receive_input : receive_gradient, to, action.microbatch});
  }

  const PipelineShape& shape_;
  std::vector<std::deque<PipelineAction>> waiting_;
  std::vector<std::set<std::tuple<PipelineAction::Kind, std::int64_t, std::int64_t>>> done_;
  std::vector<Actions> scheduled_;
};

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

std::vector<PipelineAction> with_gathering(const std::vector<PipelineAction>& compute, const PipelineShape& shape) {
  return with_reduction(is_single(shape.schedule) ? compute : with_unshard_and_reshard(compute), shape);
}

std::vector<PipelineAction> with_messages(const PipelineShape& shape, std::int64_t rank) {
  switch (shape.schedule) {
    case PipelineSchedule::gpipe: return with_reduction(gpipe_with_messages(shape, rank), shape);
    case PipelineSchedule::one_f_one_b: return with_reduction(one_f_one_b_with_messages(shape, rank), shape);
    default: return Exchange(shape).of_rank(rank);
  }
}

}  // namespace tidemark
