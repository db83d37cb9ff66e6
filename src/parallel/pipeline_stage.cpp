#include "parallel/pipeline_stage.h"

#include "tensor/engine.h"

namespace tidemark {
namespace {

// A pickled tuple of one tensor's sizes and type.  The allocator rounds it up to 512 bytes whatever they are.
constexpr std::int64_t kPickledBytes = 512;

Tensor make(Run& run, const char* op, const Dims& sizes, Dtype dtype) {
  const Op name(run, op);
  return empty(run, sizes, dtype);
}

/// Tensor.detach_: logits are no view to autograd (aten::_unsafe_view), so their graph goes.
void detach_(const Tensor& tensor) {
  tensor.impl().grad_fn.reset();
  tensor.impl().base.reset();
  tensor.impl().requires_grad = false;
}

}  // namespace

/// model(…).logits, which are the first of its outputs; the others go.
Tensor PipelineStage::call(const Batch& chunk) {
  Batch inputs = chunk;
  if (wrapper_.replace_inputs) wrapper_.replace_inputs(inputs);
  ModelOutputs logits;
  logits.held.push_back(std::move(model_.forward(inputs).held.front()));
  if (wrapper_.after_forward) wrapper_.after_forward(logits);
  return std::move(logits.held.front());
}

Tensor PipelineStage::buffer(const Dims& sizes, Dtype dtype) {
  const Setting<Category> category(run_.category, Category::communication);
  return make(run_, "aten::empty", sizes, dtype);
}

/// torch.distributed.recv_object_list of one object.
void PipelineStage::receive_sizes() {
  const Setting<Category> category(run_.category, Category::communication);
  const Tensor object_sizes = make(run_, "aten::empty", {1}, Dtype::int64);
  make(run_, "aten::sum", {}, Dtype::int64).reset();
  const Tensor object = make(run_, "aten::empty", {kPickledBytes}, Dtype::uint8);
  make(run_, "aten::add", {}, Dtype::int64).reset();
  const Tensor offset = make(run_, "aten::add", {}, Dtype::int64);
}

/// torch.distributed.send_object_list of one object.
void PipelineStage::send_sizes() {
  const Setting<Category> category(run_.category, Category::communication);
  const Tensor object = make(run_, "aten::to", {kPickledBytes}, Dtype::uint8);
  const Tensor size = make(run_, "aten::to", {1}, Dtype::int64);
  const Tensor object_sizes = make(run_, "aten::cat", {1}, Dtype::int64);
}

void PipelineStage::prepare_forward(const Batch& chunk, std::size_t microbatches, bool previous_is_here,
                                    bool next_is_here) {
  if (!is_first() && !previous_is_here) receive_sizes();
  Batch args = chunk;
  const Dims sizes{chunk.attention_mask.size(0), chunk.attention_mask.size(1), model_.stack->features};
  const Dtype dtype = model_.root.dtype;
  if (!is_first())
    args.input_ids = make(run_, "aten::zeros_like", sizes, dtype);
  else if (!chunk.pixel_values)  // else it is a keyword, which is passed on
    args.input_ids = make(run_, "aten::zeros_like", chunk.input_ids.sizes(), chunk.input_ids.dtype());
  {
    const NoGrad no_grad(run_);
    if (wrapper_.pass_begins) wrapper_.pass_begins(false);
    if (wrapper_.before_forward) wrapper_.before_forward();
    const Tensor outputs = call(args);
    output_sizes_ = outputs.sizes();
    output_dtype_ = outputs.dtype();
    if (!is_last() && !next_is_here) send_sizes();
  }
  args = {};
  outputs_.resize(microbatches);
  inputs_.resize(microbatches);
  if (is_first()) return;
  for (Tensor& input : inputs_) {
    input = buffer(sizes, dtype);
    input.impl().requires_grad = true;
  }
}

void PipelineStage::prepare_backward(std::size_t microbatches) {
  gradients_.resize(microbatches);
  if (is_last()) return;
  for (Tensor& gradient : gradients_) gradient = buffer(output_sizes_, output_dtype_);
}

void PipelineStage::clear() { output_chunks_.clear(); }

Tensor PipelineStage::forward(std::size_t microbatch, Batch chunk, bool keeps_output) {
  if (!is_first()) chunk.input_ids = inputs_[microbatch];
  if (wrapper_.pass_begins) wrapper_.pass_begins(false);
  if (wrapper_.before_forward) wrapper_.before_forward();
  Tensor output = call(chunk);
  if (is_last() && keeps_output) output_chunks_.push_back(output);
  outputs_[microbatch] = output;
  return output;
}

Tensor PipelineStage::backward(std::size_t microbatch, Tensor loss, bool is_last_backward) {
  if (wrapper_.pass_begins) wrapper_.pass_begins(is_last_backward);
  const Setting on_gradient(run_.on_gradient, wrapper_.gradient_is_ready);
  const Tensor output = std::move(outputs_[microbatch]);
  if (wrapper_.backward_without_sync) {
    if (is_last())
      wrapper_.backward_without_sync(loss, {});
    else if (output.requires_grad())
      wrapper_.backward_without_sync(output, gradients_[microbatch]);
  } else if (is_last()) {
    tidemark::backward(loss);
  } else if (output.requires_grad()) {
    tidemark::backward(output, gradients_[microbatch]);
  }
  if (is_last() && !is_first()) detach_(output);
  return is_first() ? Tensor() : std::move(inputs_[microbatch].grad());
}

void PipelineStage::reduce_gradients() {
  if (wrapper_.reduce_gradients) wrapper_.reduce_gradients();
}

void PipelineStage::unshard() {
  if (wrapper_.unshard) wrapper_.unshard();
}

void PipelineStage::wait_for_unshard() {
  if (wrapper_.wait_for_unshard) wrapper_.wait_for_unshard();
}

void PipelineStage::reshard() {
  if (wrapper_.reshard) wrapper_.reshard();
}

void PipelineStage::take_input(std::size_t microbatch, const Tensor& output) {
  inputs_[microbatch] = alias(output);
  inputs_[microbatch].impl().requires_grad = true;
}

}  // namespace tidemark
