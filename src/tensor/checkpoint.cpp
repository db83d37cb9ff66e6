#include "tensor/checkpoint.h"

#include "tensor/engine.h"
#include "tensor/node.h"
#include "tensor/run.h"
#include "tensor/second_forward.h"

namespace tidemark {
namespace {

/// The state of the first forward, for the second: torch.enable_grad() and autocast, whose casts end with it.
class RestoredState {
 public:
  RestoredState(Run& run, const CheckpointFrame& frame)
      : run_(run), grad_(run.grad_enabled, true), autocast_(run.autocast.enabled, frame.autocast) {
    run.autocast.dtype = frame.autocast_dtype;
  }
  ~RestoredState() { run_.autocast.weights.clear(); }

 private:
  Run& run_;
  Setting<bool> grad_, autocast_;
};

/// Counts what is done in its time as done again.
class CountedAgain {
 public:
  CountedAgain(Run& run, const CheckpointFrame& frame)
      : run_(run), layer_(frame.layer), runs_again_(run.runs_again, true) {
    if (run.work) before_ = run.work->so_far();
  }
  ~CountedAgain() {
    if (run_.work) run_.work->again[layer_].all += done_since(*run_.work, before_);
  }

 private:
  Run& run_;
  std::int64_t layer_;
  Again before_;
  Setting<bool> runs_again_;
};

Ref<CheckpointFrame> make_frame(const Run& run) {
  Ref<CheckpointFrame> frame(new CheckpointFrame);
  frame->autocast = run.autocast.enabled;
  frame->autocast_dtype = run.autocast.dtype;
  return frame;
}

void recompute(Run& run, CheckpointFrame& frame) {
  frame.recomputed = true;
  if (repeat_second_forward(run, frame)) return;
  WatchedForward watched(run);
  frame.values.resize(frame.wanted.size());
  frame.recomputing = true;
  frame.first = run.beginning.number;
  const RestoredState state(run, frame);
  const CountedAgain counted(run, frame);
  const Setting<CheckpointFrame*> current(run.checkpoint, &frame);
  try {
    frame.block();
  } catch (const StopRecomputation&) {
  }
  for (Ref<Storage>& workspace : run.matmul_workspaces)  // of a product that was not run
    if (workspace && workspace->id == kNoBytes) workspace.reset();
  watched.keep(frame);
}

/// See Note [Where recomputation stops].
void note_last(const Run& run, CheckpointFrame& frame, const Tensor& tensor) {
  const bool is_input = tensor.impl().storage->record < run.beginning.entry;
  const std::uint32_t operation = run.beginning.number - frame.first;
  frame.last_saves_inputs = is_input && (frame.last_saves_inputs || operation != frame.last);
  frame.last = operation;
}

/// CheckpointFunction.backward: a backward pass within the backward pass.
Tensors checkpoint_backward(Backward& call) {
  const CheckpointFrame& frame = *call.node.frame;
  for (std::size_t i = 0; i < call.gradients.size(); ++i) {  // torch: PyNode::apply, materialize_grads
    const Node::OutputInfo& output = call.node.outputs[i];
    if (!call.gradients[i]) call.gradients[i] = empty(call.run, output.sizes, output.dtype);
  }
  Tensor detached = alias(call.saved[0]);
  detached.impl().requires_grad = true;
  Tensors outputs;
  {
    const RestoredState state(call.run, frame);
    const CountedAgain counted(call.run, frame);
    outputs = frame.function(detached);
  }
  Tensors outputs_with_grad, args_with_grad;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    outputs_with_grad.push_back(outputs[i]);
    args_with_grad.push_back(call.gradients[i]);
  }
  backward(outputs_with_grad, std::move(args_with_grad));
  return {detached.grad()};
}

}  // namespace

Saved::~Saved() {
  if (frame) frame->wanted[static_cast<std::size_t>(place)] = false;
}

Tensors checkpoint(Run& run, std::function<Tensors()> block, CheckpointOptions options) {
  if (!run.grad_enabled) return block();
  const Ref<CheckpointFrame> frame = make_frame(run);
  frame->block = std::move(block);
  frame->first = run.beginning.number;
  const Setting<CheckpointFrame*> current(run.checkpoint, frame.get());
  frame->layer = options.layer;
  frame->save = std::move(options.save);
  if (!frame->save) begin_first_forward(run, *frame);
  Tensors outputs = frame->block();
  end_first_forward(run, *frame);
  return outputs;
}

Tensors checkpoint_reentrant(Run& run, std::function<Tensors(Tensor)> function, Tensor input, std::int64_t layer) {
  const Ref<CheckpointFrame> frame = make_frame(run);
  frame->layer = layer;
  frame->function = std::move(function);
  Tensors outputs;
  {
    const NoGrad no_grad(run);
    outputs = frame->function(input);
  }
  Tensors saved{input};
  record(outputs, {std::move(input)},
         {.name = "CheckpointFunctionBackward", .saved = std::move(saved), .backward = checkpoint_backward});
  if (outputs[0].impl().grad_fn) outputs[0].impl().grad_fn->frame = frame;
  return outputs;
}

Saved save_in(CheckpointFrame& frame, Tensor tensor) {
  if (!frame.recomputing) {
    frame.wanted.push_back(true);
    note_last(tensor.run(), frame, tensor);
    return Saved(Ref<CheckpointFrame>(&frame), static_cast<std::int32_t>(frame.wanted.size() - 1));
  }
  const auto place = static_cast<std::size_t>(frame.made_again++);
  TM_CHECK(place < frame.wanted.size(), "a checkpointed block saved more when it ran again");
  if (frame.wanted[place]) frame.values[place] = tensor.requires_grad() ? alias(tensor) : tensor;
  if (place + 1 == frame.wanted.size()) throw StopRecomputation{};
  return Saved(std::move(tensor));
}

Tensor unpack(Run& run, Saved& saved) {
  if (!saved.frame) {
    const Tensor& kept = saved.tensor;  // a parameter's memory may have been let go of, and must be back
    const bool may_have_none = !kept || kept.elements() == 0 || !is_floating(kept.dtype());  // as indices on the host
    TM_CHECK(may_have_none || kept.impl().storage->id != kNoBytes, "a saved tensor has no memory");
    return kept;
  }
  CheckpointFrame& frame = *saved.frame;
  if (!frame.recomputed) recompute(run, frame);
  Tensor value = std::move(frame.values[static_cast<std::size_t>(saved.place)]);
  TM_CHECK(value, "a checkpointed tensor was not made again");
  return value;
}

}  // namespace tidemark
