// How a stage of a pipeline finds the sizes of what it receives and gives.  Before torch 2.12 it is told by the one
// before it, and runs forward without gradients; since then it runs forward and backward as it will, and is told from
// both sides.
#include "nn/loss.h"
#include "parallel/pipeline_stage.h"
#include "tensor/engine.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

// A pickled tuple of one tensor's sizes and type.  The allocator rounds it up to 512 bytes whatever they are.
constexpr std::int64_t kPickledBytes = 512;

Tensor make(Run& run, const char* op, const Dims& sizes, Dtype dtype) {
  const Op name(run, op);
  return empty(run, sizes, dtype);
}

/// Module.named_buffers(remove_duplicate=False)
template <class Visit>
void visit_buffers(Module& module, Visit&& visit) {
  for (const std::shared_ptr<Parameter>& parameter : module.parameters())
    if (parameter->is_buffer) visit(parameter->tensor);
  for (const std::unique_ptr<Module>& child : module.children()) visit_buffers(*child, visit);
}

}  // namespace

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

void PipelineStage::prepare_forward(const Batch& chunk, std::size_t microbatches) {
  input_sizes_ = {chunk.attention_mask.size(0), chunk.attention_mask.size(1), model_.stack->features};
  if (!place_.is_first() && !place_.previous_is_here) receive_sizes();
  const TorchRules& torch = run_.torch();
  if (torch.stages_measure_themselves)
    measure_forward(chunk);
  else
    ask_for_sizes(chunk);
  for (Tensors* all : {&outputs_, &inputs_, &gradients_}) all->resize(microbatches);
  roots_.resize(microbatches);
  if (place_.is_first() || torch.stages_hold_messages_briefly) return;
  for (Tensor& input : inputs_) input = input_buffer();
}

/// 2.11.0: PipelineStage._shape_inference
void PipelineStage::ask_for_sizes(const Batch& chunk) {
  Batch args = chunk;
  if (!place_.is_first())
    args.input_ids = make(run_, "aten::zeros_like", input_sizes_, model_.root.dtype);
  else if (!chunk.pixel_values)  // else it is a keyword, which is passed on
    args.input_ids = make(run_, "aten::zeros_like", chunk.input_ids.sizes(), chunk.input_ids.dtype());
  const NoGrad no_grad(run_);
  const Tensor output = call(args, false);
  output_sizes_ = output.sizes();
  output_dtype_ = output.dtype();
  if (!place_.is_last() && !place_.next_is_here) send_sizes();
}

/// _forward_metadata_inference
void PipelineStage::measure_forward(const Batch& chunk) {
  Batch args = chunk;
  if (!place_.is_first()) measured_input_ = args.input_ids = input_buffer();
  measured_output_ = call(args, true);
  output_sizes_ = measured_output_.sizes();
  output_dtype_ = measured_output_.dtype();
  output_has_gradient_ = measured_output_.requires_grad();
  if (!place_.is_last() && !place_.next_is_here) send_sizes();
}

void PipelineStage::prepare_backward(const Tensor& labels) {
  const TorchRules& torch = run_.torch();
  if (torch.stages_measure_themselves) measure_backward(labels);
  if (place_.is_last() || torch.stages_hold_messages_briefly || !output_has_gradient_) return;
  for (Tensor& gradient : gradients_) gradient = buffer(output_sizes_, output_dtype_);
}

/// _backward_metadata_inference.  Gradients of parameters are not asked for.
void PipelineStage::measure_backward(const Tensor& labels) {
  const Tensor input = std::move(measured_input_), output = std::move(measured_output_);
  Tensor root, input_gradient;
  if (!place_.is_last() && !place_.next_is_here) receive_sizes();
  {
    Tensor gradient;
    if (place_.is_last())
      root = causal_lm_loss(output, labels);
    else if (output.requires_grad())
      gradient = make(run_, "aten::ones", (root = output).sizes(), output.dtype());
    if (input.requires_grad() && root.requires_grad()) {
      if (place_.is_last()) gradient = fresh("aten::ones_like", root);
      const auto pass = [&] { input_gradient = gradient_at(input, root, gradient); };
      if (wrapper_.around_backward)
        wrapper_.around_backward(pass, true);
      else
        pass();
    }
  }
  if (!place_.is_first() && !place_.previous_is_here) send_sizes();
}

void PipelineStage::back_up_buffers() {
  if (!run_.torch().stages_back_up_buffers) return;
  visit_buffers(model_.root, [&](const Tensor& held) { buffer_copies_.push_back(fresh("aten::clone", held)); });
}

void PipelineStage::clean_up() {
  if (!run_.torch().stages_measure_themselves) return;
  buffer_copies_.clear();
  reshard();
}

}  // namespace tidemark
