// One stage of a pipeline: a part of a model, and what it holds for micro-batches under way.
// torch: torch/distributed/pipelining/stage.py, PipelineStage (2.11.0)
#pragma once
#include <vector>

#include "train/hooks.h"

namespace tidemark {

class PipelineStage {
 public:
  /// `model` is the part; it must outlive the stage.  `wrapper`: of copies of the stage that train on other data.
  PipelineStage(Run& run, Model& model, StepHooks wrapper, std::int64_t index, std::int64_t stages)
      : run_(run), model_(model), wrapper_(std::move(wrapper)), index_(index), stages_(stages) {}

  bool is_first() const { return index_ == 0; }
  bool is_last() const { return index_ == stages_ - 1; }
  std::int64_t index() const { return index_; }

  /// _prepare_forward_infra: a first forward pass without gradients, for the sizes that its output has, and the buffers
  /// for what is received.  `chunk` is the first micro-batch; neighbours on this rank tell each other without messages.
  void prepare_forward(const Batch& chunk, std::size_t microbatches, bool previous_is_here, bool next_is_here);
  /// _prepare_backward_infra
  void prepare_backward(std::size_t microbatches);
  /// clear_runtime_states
  void clear();

  /// forward_one_chunk
  Tensor forward(std::size_t microbatch, Batch chunk, bool keeps_output);
  /// backward_one_chunk, from the loss on the last stage; what is sent back, if it is anything.
  Tensor backward(std::size_t microbatch, Tensor loss, bool is_last_backward);
  /// perform_reduce_grad, without its division in place
  void reduce_gradients();
  void unshard();
  void wait_for_unshard();
  void reshard();
  /// set_local_fwd_input, set_local_bwd_input: what a neighbour on the same rank hands over.
  void take_input(std::size_t microbatch, const Tensor& output);
  void take_gradient(std::size_t microbatch, Tensor gradient) { gradients_[microbatch] = std::move(gradient); }

  /// Of the last stage: its outputs, until the next step begins.
  const Tensors& output_chunks() const { return output_chunks_; }

 private:
  Tensor call(const Batch& chunk);
  Tensor buffer(const Dims& sizes, Dtype dtype);
  void receive_sizes();
  void send_sizes();

  Run& run_;
  Model& model_;
  const StepHooks wrapper_;
  const std::int64_t index_, stages_;
  Dims output_sizes_;
  Dtype output_dtype_ = Dtype::f32;
  Tensors inputs_, gradients_;  // received, by micro-batch: args_recv_info, grad_recv_info
  Tensors outputs_;             // fwd_cache, by micro-batch
  Tensors output_chunks_;
};

}  // namespace tidemark
