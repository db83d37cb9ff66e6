// Gradients in parts, and the step over them.
// deepspeed/runtime/zero/stage3.py (0.19.8): DeepSpeedZeroOptimizer_Stage3
#pragma once
#include "parallel/zero3_coordinator.h"

namespace tidemark {

class Zero3Optimizer {
 public:
  /// `groups`: the optimizer's, none of them empty.
  Zero3Optimizer(Run& run, ParameterStore& store, Coordinator& coordinator, const std::vector<TensorList>& groups,
                 const Zero3Options& options);

  /// The master copies, one for each sub-group: what the optimizer is made for.
  const TensorList& masters() const { return masters_; }
  /// reduce_ready_partitions_and_remove_grads, of a leaf whose gradient is there, if it is not a leaf module's.
  void gradient_is_ready(const Tensor& leaf);
  /// The same of all that a leaf module has, whose backward is over.
  void leaf_module_is_done(const Zero3Parameters& parameters);
  /// DeepSpeedEngine.backward
  void backward(const Tensor& loss, bool is_last);
  void step(Optimizer& optimizer);

 private:
  using SubGroup = Zero3Parameters;

  void make_sub_groups(const TensorList& group);
  void make_masters();
  void make_buffers();
  std::int64_t part_elements(const SubGroup& group) const;
  void mark_persistent();
  void add_to_bucket(Zero3Parameter& parameter);
  void reduce_bucket();
  TensorList reduce_scatter();
  TensorList reduce_all();
  std::int64_t share(const Zero3Parameter& parameter, std::int64_t rank) const;
  void send_to_host(const Zero3Parameter& parameter, Tensor& gradient);
  void look_at_norms_on_host();
  bool has_part(const Zero3Parameter& parameter) const {
    return parameter.part_elements * options_.rank < parameter.elements;
  }
  TensorList norms();
  void set_master_gradient(std::size_t group);
  void gather_persistent();

  Run& run_;
  ParameterStore& store_;
  Coordinator& coordinator_;
  const Zero3Options options_;
  const StreamId reduce_stream_;
  std::vector<SubGroup> groups_;
  Zero3Parameters persistent_;
  Tensor flat_, tracker_, barrier_;  // lp_param_buffer, inf_or_nan_tracker, what the last barrier was about
  TensorList masters_;
  struct {
    Tensor buffer;
    Zero3Parameters parameters;
    std::int64_t elements = 0;
  } bucket_;
  Tensor gradients_;  // grad_partitions_flat_buffer
  Tensor global_grad_norm_;
  std::int64_t micro_step_ = 0;
  bool is_last_ = false;                         // is_gradient_accumulation_boundary
  std::map<std::size_t, Tensor> norms_on_card_;  // norm_for_param_grads
};

}  // namespace tidemark
