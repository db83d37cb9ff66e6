// One stage of a pipeline: a part of a model, and what it holds for micro-batches under way.
// torch: torch/distributed/pipelining/stage.py, PipelineStage (2.11.0, 2.12.1 and 2.15.0)
#pragma once
#include <vector>

#include "tensor/node.h"
#include "train/hooks.h"

namespace tidemark {

struct StagePlace {
  std::int64_t index = 0, stages = 1;
  /// Neighbours on this rank tell each other without messages.
  bool previous_is_here = false, next_is_here = false;
  /// Whether what is received has a gradient: something in an earlier stage is trained.
  bool input_has_gradient = true;
  bool is_first() const { return index == 0; }
  bool is_last() const { return index == stages - 1; }
};

class PipelineStage {
 public:
  /// `model` is the part; it must outlive the stage.  `wrapper`: of copies of the stage that train on other data;
  /// `keeps_sent`: it needs outputs that have been sent (2.15.0: _output_slot_is_releasable).
  PipelineStage(Run& run, Model& model, StepHooks wrapper, const StagePlace& place, bool keeps_sent);

  const StagePlace& place() const { return place_; }

  /// _prepare_forward_infra: the sizes of what it receives and gives, by a first forward pass.  `chunk` is the first
  /// micro-batch.
  void prepare_forward(const Batch& chunk, std::size_t microbatches);
  /// _prepare_backward_infra, with the labels of the first micro-batch on the last stage.
  void prepare_backward(const Tensor& labels);
  /// _pre_metadata_inference_backup and _post_metadata_inference_cleanup, around both.
  void back_up_buffers();
  void clean_up();
  /// clear_runtime_states
  void clear();

  /// get_fwd_recv_ops, get_bwd_recv_ops: what a message is received into, if there is one.
  Tensor receive_input(std::size_t microbatch);
  Tensor receive_gradient(std::size_t microbatch);
  /// release_fwd_send_outputs
  void let_go_of_output(std::size_t microbatch);
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
  Tensor call(const Batch& chunk, bool measures);
  Tensor buffer(const Dims& sizes, Dtype dtype);
  Tensor input_buffer();
  void ask_for_sizes(const Batch& chunk);
  void measure_forward(const Batch& chunk);
  void measure_backward(const Tensor& labels);
  void receive_sizes();
  void send_sizes();
  void go_backward(const Tensor& loss, const Tensor& gradient, std::size_t microbatch);

  Run& run_;
  Model& model_;
  const StepHooks wrapper_;
  const StagePlace place_;
  const bool keeps_sent_;
  Dims input_sizes_, output_sizes_;
  Dtype output_dtype_ = Dtype::f32;
  bool output_has_gradient_ = true;
  Tensors buffer_copies_;
  Tensor measured_input_, measured_output_;
  Tensors inputs_, gradients_;  // received, by micro-batch: args_recv_info, grad_recv_info
  Tensors outputs_;             // of _forward_chunk_states, by micro-batch
  std::vector<Edge> roots_;     // where the backward pass of an output begins that has been let go of
  Tensors output_chunks_;
};

}  // namespace tidemark
