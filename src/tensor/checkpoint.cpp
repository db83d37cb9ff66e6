#include "tensor/checkpoint.h"

#include "tensor/node.h"
#include "tensor/run.h"

namespace tidemark {
namespace {

void recompute(Run& run, CheckpointFrame& frame) {
  frame.values.resize(frame.wanted.size());
  frame.recomputing = true;
  const Setting<bool> grad(run.grad_enabled, true);
  const Setting<CheckpointFrame*> current(run.checkpoint, &frame);
  const Setting<std::uint32_t> module(run.module, run.module);
  const Setting<const char*> op(run.op, "-");
  try {
    frame.block();
  } catch (const StopRecomputation&) {
  }
  frame.recomputed = true;
}

}  // namespace

Saved::~Saved() {
  if (frame) frame->wanted[static_cast<std::size_t>(place)] = false;
}

Tensor checkpoint(Run& run, std::function<Tensor()> block) {
  if (!run.grad_enabled) return block();
  const Ref<CheckpointFrame> frame(new CheckpointFrame);
  frame->block = std::move(block);
  const Setting<CheckpointFrame*> current(run.checkpoint, frame.get());
  return frame->block();
}

Saved save_in(CheckpointFrame& frame, Tensor tensor) {
  if (!frame.recomputing) {
    frame.wanted.push_back(true);
    return Saved(Ref<CheckpointFrame>(&frame), static_cast<std::int32_t>(frame.wanted.size() - 1));
  }
  const auto place = static_cast<std::size_t>(frame.made_again++);
  TM_CHECK(place < frame.wanted.size(), "a checkpointed block saved more when it ran again");
  if (frame.wanted[place]) frame.values[place] = alias(tensor);
  if (place + 1 == frame.wanted.size()) throw StopRecomputation{};
  return Saved(std::move(tensor));
}

Tensor unpack(Run& run, Saved& saved) {
  if (!saved.frame) return saved.tensor;
  CheckpointFrame& frame = *saved.frame;
  if (!frame.recomputed) recompute(run, frame);
  Tensor value = std::move(frame.values[static_cast<std::size_t>(saved.place)]);
  TM_CHECK(value, "a checkpointed tensor was not made again");
  return value;
}

}  // namespace tidemark
