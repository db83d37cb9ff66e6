// The order in which a rank of a pipeline works, as the schedules of torch.distributed.pipelining have it.
// torch: torch/distributed/pipelining/schedules.py (2.11.0 and 2.15.0)
#pragma once
#include <cstdint>
#include <vector>

namespace tidemark {

enum class PipelineSchedule { gpipe, one_f_one_b, interleaved_1f1b, looped_bfs };

/// One micro-batch in one stage, or what is done to a stage for all of them.
struct PipelineAction {
  enum class Kind {
    forward,
    backward,
    unshard,
    reshard,
    reduce_grad,
    // Where memory for messages is made as they come: their receipt, and the end of a sending.
    receive_input,
    receive_gradient,
    output_is_sent
  } kind = Kind::forward;
  std::int64_t stage = 0, microbatch = 0;
  bool operator==(const PipelineAction&) const = default;
};

struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t ranks = 1, stages_per_rank = 1, microbatches = 1;
  std::int64_t stages() const { return ranks * stages_per_rank; }
};

/// A schedule of one stage per rank.  torch: PipelineScheduleSingle
bool is_single(PipelineSchedule schedule);

/// generate_rank_to_stage_mapping: the stages of a rank, in their order.
std::vector<std::int64_t> stages_of_rank(const PipelineShape& shape, std::int64_t rank);

/// What the rank computes, in its order.
std::vector<PipelineAction> pipeline_actions(const PipelineShape& shape, std::int64_t rank);

/// The same, with what is done to stages whose parameters and gradients are shared out: at most three of them are
/// gathered at once by schedules of several.  torch: _add_unshard_reshard, _add_reduce_grad
std::vector<PipelineAction> with_gathering(const std::vector<PipelineAction>& compute, const PipelineShape& shape);

/// That of a rank, with when messages are received, and known to be sent where nothing is kept for them behind that.
/// torch 2.15.0: ScheduleGPipe and Schedule1F1B._step_microbatches, _add_send_recv
std::vector<PipelineAction> with_messages(const PipelineShape& shape, std::int64_t rank);

}  // namespace tidemark
