#include "parallel/pipeline.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "nn/loss.h"
#include "parallel/pipeline_stage.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

using Phase = std::function<void(StepPhase)>;

class Schedule {
 public:
  Schedule(Run& run, const std::vector<Model*>& parts, const PipelineOptions& options,
           const std::vector<StepHooks>& wrappers)
      : run_(run),
        options_(options),
        actions_(run.torch().stages_hold_messages_briefly
                     ? with_messages(options.shape, options.rank)
                     : with_gathering(pipeline_actions(options.shape, options.rank), options.shape)) {
    const std::vector<std::int64_t> indices = stages_of_rank(options.shape, options.rank);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto is_here = [&](std::int64_t stage) { return std::ranges::find(indices, stage) != indices.end(); };
      const StagePlace place{
          .index = indices[i],
          .stages = options.shape.stages(),
          .previous_is_here = is_here(indices[i] - 1),
          .next_is_here = is_here(indices[i] + 1),
          .input_has_gradient = !run.torch().stages_measure_themselves || options.first_trained < indices[i]};
      stages_.emplace(indices[i], PipelineStage(run, *parts[i], wrappers.empty() ? StepHooks{} : wrappers[i], place,
                                                options.keeps_sent_outputs));
    }
  }

  /// schedule.step
  void step(const Batch& batch, const Phase& goes_on) {
    for (auto& [index, stage] : stages_) stage.clear();
    step_microbatches(batch, goes_on);
    if (options_.return_outputs && has(options_.shape.stages() - 1)) merge_outputs();
  }

 private:
  bool has(std::int64_t stage) const { return stages_.contains(stage); }
  bool is_gpipe() const { return options_.shape.schedule == PipelineSchedule::gpipe; }
  bool is_1f1b() const { return options_.shape.schedule == PipelineSchedule::one_f_one_b; }
  static std::size_t place_of(const PipelineAction& action) { return static_cast<std::size_t>(action.microbatch); }
  std::size_t microbatches() const { return static_cast<std::size_t>(options_.shape.microbatches); }

  Tensor labels_of(const Batch& batch, std::int64_t microbatch) const {
    const std::int64_t rows = batch.labels.size(0) / options_.shape.microbatches;
    return slice(batch.labels, 0, microbatch * rows, (microbatch + 1) * rows);
  }

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
    const TorchRules& torch = run_.torch();
    Tensors greetings;
    if (!torch.stages_measure_themselves)
      greetings = greet_neighbours();
    else if (torch.stages_hold_messages_briefly)
      agree();
    else
      vote();
    const Batch first = chunk(batch, 0);
    const Tensor labels = has(options_.shape.stages() - 1) ? labels_of(batch, 0) : Tensor();
    for (auto& [index, stage] : stages_) stage.back_up_buffers();
    for (auto& [index, stage] : stages_) stage.prepare_forward(first, microbatches());
    for (auto last = stages_.rbegin(); last != stages_.rend(); ++last) last->second.prepare_backward(labels);
    for (auto& [index, stage] : stages_) stage.clean_up();
  }

  Tensor number(const char* op_name, Dtype dtype) {
    const Setting<Category> category(run_.category, Category::communication);
    const Op op(run_, op_name);
    return empty(run_, Dims{1}, dtype);
  }

  /// 2.11.0: _get_init_p2p_neighbors_ops: two numbers, kept while there is somebody to send them to.
  Tensors greet_neighbours() {
    Tensors kept;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      Tensors numbers;
      for (const char* name : {"aten::zeros", "aten::to"}) numbers.push_back(number(name, Dtype::f32));
      if (options_.shape.stages() > 1)
        for (Tensor& each : numbers) kept.push_back(std::move(each));
    }
    return kept;
  }

  /// 2.12.1: _warmup_p2p: whether sizes have to be measured, from the first stage to the last and back.
  void vote() {
    Tensor voted;
    for (auto& [index, stage] : stages_) {
      const Tensor own = number("aten::to", Dtype::int32);
      const StagePlace& place = stage.place();
      Tensor product = own;
      if (!place.is_first()) {
        if (!place.previous_is_here) product = number("aten::zeros", Dtype::int32);
        product = number("aten::mul", Dtype::int32);
      }
      voted = std::move(product);
    }
    Tensor result = voted;
    for (auto last = stages_.rbegin(); last != stages_.rend(); ++last)
      if (const auto& place = last->second.place(); !place.is_last() && !place.next_is_here)
        result = number("aten::zeros", Dtype::int32);
  }

  /// 2.15.0: _initialize_pipeline_distributed_state, _preconnect_shared_p2p_edges
  void agree() {
    if (options_.shape.ranks == 1) return;
    const Tensor own = number("aten::to", Dtype::int32);
    const Tensor synchronization = number("aten::zeros", Dtype::int32);
    const Tensor payload = number("aten::zeros", Dtype::int32);
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
        case PipelineAction::Kind::receive_input: receive_input(action); break;
        case PipelineAction::Kind::receive_gradient: receive_gradient(action); break;
        case PipelineAction::Kind::output_is_sent: output_is_sent(action); break;
        default: share(action);
      }
    }
    // The names of the function that is over.
    output_.reset();
    sent_.clear();
    received_input_.reset();
    received_gradient_.reset();
    sent_in_warmup_.reset();
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
    if (to_wait_for_.erase(stage.place().index) > 0) stage.wait_for_unshard();
  }

  void receive_input(const PipelineAction& action) {
    Tensor buffer = stages_.at(action.stage).receive_input(place_of(action));
    if (buffer && is_single(options_.shape.schedule)) received_input_ = std::move(buffer);
  }

  void receive_gradient(const PipelineAction& action) {
    Tensor buffer = stages_.at(action.stage).receive_gradient(place_of(action));
    if (buffer && is_single(options_.shape.schedule))
      (is_gpipe() ? received_input_ : received_gradient_) = std::move(buffer);
  }

  /// _wait_and_release_fwd_send, and bwd_recvs.clear() where passes alternate.
  void output_is_sent(const PipelineAction& action) {
    stages_.at(action.stage).let_go_of_output(place_of(action));
    received_gradient_.reset();
  }

  void forward(const PipelineAction& action, const Batch& batch) {
    PipelineStage& stage = stages_.at(action.stage);
    wait_for_unshard(stage);
    const std::size_t microbatch = place_of(action);
    Tensor output = stage.forward(microbatch, chunk(batch, microbatch), options_.return_outputs);
    const TorchRules& torch = run_.torch();
    if (is_single(options_.shape.schedule) && !torch.stages_hold_messages_briefly) output_ = output;
    if (stage.place().is_last())
      losses_[microbatch] = causal_lm_loss(output, labels_of(batch, action.microbatch));
    else if (has(action.stage + 1))
      stages_.at(action.stage + 1).take_input(microbatch, output);
    else if (torch.stages_measure_themselves && !torch.stages_hold_messages_briefly)
      hold_sent(microbatch, std::move(output));
  }

  /// torch 2.12.1 to 2.14.1: a Work has what it sent, and lives as long as the list that it is in; of 1F1B until
  /// another takes its name.
  void hold_sent(std::size_t microbatch, Tensor output) {
    if (!is_1f1b())
      sent_.push_back(std::move(output));
    else if (microbatch + 2 == warmup())
      sent_in_warmup_ = std::move(output);
  }

  /// Of Schedule1F1B: forward passes in front of the first backward pass.
  std::size_t warmup() const {
    return std::min(microbatches(), static_cast<std::size_t>(options_.shape.stages() - options_.rank));
  }

  void backward(const PipelineAction& action) {
    const std::size_t microbatch = place_of(action);
    const bool is_last = ++backwards_[action.stage] == options_.shape.microbatches;
    PipelineStage& stage = stages_.at(action.stage);
    wait_for_unshard(stage);
    const bool works_hold = run_.torch().stages_measure_themselves;
    if (is_gpipe() && !works_hold) sent_.clear();  // ops = get_bwd_recv_ops(i)
    if (is_single(options_.shape.schedule)) loss_ = losses_[microbatch];
    Tensor gradient = stage.backward(microbatch, losses_[microbatch], is_last);
    if (has(action.stage - 1)) return stages_.at(action.stage - 1).take_gradient(microbatch, std::move(gradient));
    const bool keeps_all = works_hold && !is_1f1b();  // bwd_sends_to_wait; send_ops; _PendingSendTracker
    if (!keeps_all) sent_.clear();
    if (keeps_all || is_single(options_.shape.schedule)) sent_.push_back(std::move(gradient));
    if (microbatch + warmup() == microbatches()) sent_in_warmup_.reset();
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
  // Of schedules of one stage: the output of the last forward, fwd_recvs and bwd_recvs, the last loss.  Of
  // ScheduleGPipe the work that was waited for last has what was received with it, of either kind.
  Tensor output_, received_input_, received_gradient_, loss_;
  Tensors sent_;  // back, last or all of them, and forward
  Tensor sent_in_warmup_;
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
