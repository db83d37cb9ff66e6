#include "parallel/pipeline_stage.h"

#include "parallel/redistribute.h"
#include "tensor/engine.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// Tensor.detach_, which views cannot: logits are none to autograd (aten::_unsafe_view), so their graph goes, but for
/// those that DTensor.to_local gave.
void detach_(const Tensor& tensor) {
  if (is_view_of_local(tensor)) return;
  tensor.impl().grad_fn.reset();
  tensor.impl().base.reset();
  tensor.impl().requires_grad = false;
}

}  // namespace

PipelineStage::PipelineStage(Run& run, Model& model, StepHooks wrapper, const StagePlace& place, bool keeps_sent)
    : run_(run), model_(model), wrapper_(std::move(wrapper)), place_(place), keeps_sent_(keeps_sent) {}

/// model(…).logits, which are the first of its outputs; the others go.
Tensor PipelineStage::call(const Batch& chunk, bool measures) {
  if (wrapper_.pass_begins) wrapper_.pass_begins(measures);
  if (wrapper_.before_forward) wrapper_.before_forward();
  Batch inputs = chunk;
  if (wrapper_.replace_inputs) wrapper_.replace_inputs(inputs);
  ModelOutputs logits;
  logits.held.push_back(std::move(model_.forward(inputs).held.front()));
  if (wrapper_.after_forward) wrapper_.after_forward(logits);
  return std::move(logits.held.front());
}

Tensor PipelineStage::buffer(const Dims& sizes, Dtype dtype) {
  const Setting<Category> category(run_.category, Category::communication);
  const Op op(run_, "aten::empty");
  return empty(run_, sizes, dtype);
}

Tensor PipelineStage::input_buffer() {
  Tensor input = buffer(input_sizes_, model_.root.dtype);
  input.impl().requires_grad = place_.input_has_gradient;
  return input;
}

void PipelineStage::clear() { output_chunks_.clear(); }

Tensor PipelineStage::receive_input(std::size_t microbatch) {
  if (!place_.is_first() && !place_.previous_is_here) inputs_[microbatch] = input_buffer();
  return inputs_[microbatch];
}

Tensor PipelineStage::receive_gradient(std::size_t microbatch) {
  if (!place_.is_last() && !place_.next_is_here && output_has_gradient_)
    gradients_[microbatch] = buffer(output_sizes_, output_dtype_);
  return gradients_[microbatch];
}

void PipelineStage::let_go_of_output(std::size_t microbatch) {
  Tensor& output = outputs_[microbatch];
  if (!output || place_.is_last() || keeps_sent_ || output.impl().distributed) return;
  if (output.requires_grad()) roots_[microbatch] = {output.impl().grad_fn, output.impl().output};
  output.reset();
}

Tensor PipelineStage::forward(std::size_t microbatch, Batch chunk, bool keeps_output) {
  if (!place_.is_first()) chunk.input_ids = inputs_[microbatch];
  Tensor output = call(chunk, false);
  if (place_.is_last() && keeps_output) output_chunks_.push_back(output);
  outputs_[microbatch] = output;
  return output;
}

/// stage_backward
void PipelineStage::go_backward(const Tensor& loss, const Tensor& gradient, std::size_t microbatch) {
  const Edge root = std::exchange(roots_[microbatch], {});
  const auto pass = [&] {
    if (root.node)
      tidemark::backward(std::vector<Edge>{root}, Tensors{gradient});
    else
      tidemark::backward(Tensors{loss}, Tensors{gradient});
  };
  if (wrapper_.around_backward)
    wrapper_.around_backward(pass, false);
  else
    pass();
}

Tensor PipelineStage::backward(std::size_t microbatch, Tensor loss, bool is_last_backward) {
  if (wrapper_.pass_begins) wrapper_.pass_begins(is_last_backward);
  const Setting on_gradient(run_.on_gradient, wrapper_.gradient_is_ready);
  const bool briefly = run_.torch().stages_hold_messages_briefly;
  const Tensor output = std::move(outputs_[microbatch]);
  const Tensor received = briefly ? std::move(gradients_[microbatch]) : gradients_[microbatch];
  if (place_.is_last()) {
    go_backward(loss, fresh("aten::ones_like", loss), microbatch);
  } else if (roots_[microbatch].node || output.requires_grad()) {
    go_backward(output, received, microbatch);
  }
  if (place_.is_last() && !place_.is_first()) detach_(output);
  if (place_.is_first()) return {};
  Tensor& input = inputs_[microbatch];
  Tensor gradient = std::move(input.grad());
  if (briefly) input.reset();
  return gradient;
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
  inputs_[microbatch].impl().requires_grad = place_.input_has_gradient;
}

}  // namespace tidemark
