#include "parallel/pipeline.h"

#include <map>
#include <memory>
#include <set>

#include "nn/attention.h"
#include "parallel/pipeline_stage.h"

namespace tidemark {
namespace {

using Phase = std::function<void(StepPhase)>;

class Schedule {
 public:
  Schedule(Run& run, const std::vector<Model*>& parts, const PipelineOptions& options,
           const std::vector<StepHooks>& wrappers)
      : run_(run),
        options_(options),
        actions_(with_gathering(pipeline_actions(options.shape, options.rank), options.shape)) {
    const std::vector<std::int64_t> indices = stages_of_rank(options.shape, options.rank);
    for (std::size_t i = 0; i < parts.size(); ++i)
      stages_.emplace(indices[i], PipelineStage(run, *parts[i], wrappers.empty() ? StepHooks{} : wrappers[i],
                                                indices[i], options.shape.stages()));
  }

  /// schedule.step
  void step(const Batch& batch, const Phase& goes_on) {
    for (auto& [index, stage] : stages_) stage.clear();
    step_microbatches(batch, goes_on);
    if (options_.return_outputs && has(options_.shape.stages() - 1)) merge_outputs();
  }

 private:
  bool has(std::int64_t stage) const { return stages_.contains(stage); }
  std::size_t microbatches() const { return static_cast<std::size_t>(options_.shape.microbatches); }

  /// split_args_kwargs_into_chunks: views.
  Batch chunk(const Batch& batch, std::size_t microbatch) const {
    const auto part = [&](const Tensor& whole) {
      if (!whole) return Tensor();
      const std::int64_t rows = whole.size(0) / options_.shape.microbatches;
      return slice(whole, 0, static_cast<std::int64_t>(microbatch) * rows,
                   static_cast<std::int64_t>(microbatch + 1) * rows);
    };
    Batch result;
    result.input_ids = part(batch.input_ids);
    result.attention_mask = part(batch.attention_mask);
    result.pixel_values = part(batch.pixel_values);
    return result;
  }

  /// _initialize_stage, _initialize_stages
  void initialize(const Batch& batch) {
    const Tensors greetings = greet_neighbours();
    const Batch first = chunk(batch, 0);
    for (auto& [index, stage] : stages_) stage.prepare_forward(first, microbatches(), has(index - 1), has(index + 1));
    for (auto& [index, stage] : stages_) stage.prepare_backward(microbatches());
  }

  /// _get_init_p2p_neighbors_ops: two numbers, kept while there is somebody to send them to.
  Tensors greet_neighbours() {
    const Setting<Category> category(run_.category, Category::communication);
    Tensors kept;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      Tensors numbers;
      for (const char* name : {"aten::zeros", "aten::to"}) {
        const Op op(run_, name);
        numbers.push_back(empty(run_, Dims{1}, Dtype::f32));
      }
      if (options_.shape.stages() > 1)
        for (Tensor& number : numbers) kept.push_back(std::move(number));
    }
    return kept;
  }

  void step_microbatches(const Batch& batch, const Phase& goes_on) {
    if (!std::exchange(initialized_, true)) initialize(batch);
    losses_.resize(microbatches());
    backwards_.clear();
    for (const PipelineAction& action : actions_) {
      switch (action.kind) {
        case PipelineAction::Kind::forward:
          goes_on(StepPhase::forward);
          forward(action, batch);
          break;
        case PipelineAction::Kind::backward:
          goes_on(StepPhase::backward);
          backward(action);
          break;
        default: share(action);
      }
    }
    // The names of the function that is over.
    output_.reset();
    sent_.reset();
    loss_.reset();
    losses_.clear();
  }

  /// What is shared out: UNSHARD, RESHARD, REDUCE_GRAD.
  void share(const PipelineAction& action) {
    PipelineStage& stage = stages_.at(action.stage);
    switch (action.kind) {
      case PipelineAction::Kind::unshard: to_wait_for_.insert(action.stage); return stage.unshard();
      case PipelineAction::Kind::reshard: return stage.reshard();
      default:
        if (is_single(options_.shape.schedule)) losses_.clear();  // _update_losses comes first
        return stage.reduce_gradients();
    }
  }

  /// _assert_unsharded
  void wait_for_unshard(PipelineStage& stage) {
    if (to_wait_for_.erase(stage.index()) > 0) stage.wait_for_unshard();
  }

  void forward(const PipelineAction& action, const Batch& batch) {
    PipelineStage& stage = stages_.at(action.stage);
    wait_for_unshard(stage);
    const auto microbatch = static_cast<std::size_t>(action.microbatch);
    Tensor output = stage.forward(microbatch, chunk(batch, microbatch), options_.return_outputs);
    if (is_single(options_.shape.schedule)) output_ = output;
    if (stage.is_last()) {
      const std::int64_t rows = batch.labels.size(0) / options_.shape.microbatches;
      losses_[microbatch] =
          causal_lm_loss(output, slice(batch.labels, 0, action.microbatch * rows, (action.microbatch + 1) * rows));
    } else if (has(action.stage + 1)) {
      stages_.at(action.stage + 1).take_input(microbatch, output);
    }
  }

  void backward(const PipelineAction& action) {
    const auto microbatch = static_cast<std::size_t>(action.microbatch);
    if (options_.shape.schedule == PipelineSchedule::gpipe) sent_.reset();  // ops = get_bwd_recv_ops(i)
    const bool is_last = ++backwards_[action.stage] == options_.shape.microbatches;
    PipelineStage& stage = stages_.at(action.stage);
    wait_for_unshard(stage);
    if (is_single(options_.shape.schedule)) loss_ = losses_[microbatch];
    Tensor gradient = stage.backward(microbatch, losses_[microbatch], is_last);
    if (is_single(options_.shape.schedule))
      sent_ = std::move(gradient);
    else if (has(action.stage - 1))
      stages_.at(action.stage - 1).take_gradient(microbatch, std::move(gradient));
  }

  /// merge_chunks, whose result the loop drops.
  void merge_outputs() {
    const Tensors& chunks = stages_.at(options_.shape.stages() - 1).output_chunks();
    cat(chunks, 0);
  }

  Run& run_;
  const PipelineOptions options_;
  const std::vector<PipelineAction> actions_;
  std::map<std::int64_t, PipelineStage> stages_;
  bool initialized_ = false;
  Tensors losses_;                                  // _internal_losses
  std::map<std::int64_t, std::int64_t> backwards_;  // backward_counter: of this step, by stage
  std::set<std::int64_t> to_wait_for_;              // unshard_ops: stages
  // Of schedules of one stage: the output of the last forward, what was sent back last, the last loss.
  Tensor output_, sent_, loss_;
};

}  // namespace

StepHooks pipeline(Run& run, const std::vector<Model*>& parts, const PipelineOptions& options,
                   const std::vector<StepHooks>& wrappers) {
  const auto schedule = std::make_shared<Schedule>(run, parts, options, wrappers);
  StepHooks hooks;
  hooks.passes = [schedule](const Batch& batch, const Phase& goes_on) { schedule->step(batch, goes_on); };
  for (Model* part : parts)
    for (Tensor& parameter : trainable_parameters(part->root)) hooks.optimizer_parameters.push_back(parameter);
  return hooks;
}

}  // namespace tidemark
