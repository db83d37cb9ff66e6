// One FlatParameter: what it gathers, and what of it this rank keeps.
// torch 2.11.0: torch/distributed/fsdp/_flat_param.py, FlatParamHandle
#pragma once
#include <vector>

#include "parallel/fsdp1.h"

namespace tidemark {

class FlatHandle {
 public:
  /// Of parameters on the card, in the order in which they are laid.
  FlatHandle(Run& run, const std::vector<Parameter*>& parameters, const Fsdp1Options& options);

  /// init_flat_param_attributes: each buffer once, to see that it can be had.
  void init_attributes();
  bool is_unsharded() const { return full_.impl().storage->id != kNoBytes; }
  /// Does nothing to what is there, but for waiting its turn.
  void unshard();
  /// The current stream waits for what was gathered.
  void await_unshard();
  /// _use_unsharded_views in the forward: modules have views that autograd knows.
  void use_new_views();
  /// In the backward: those of the forward again.
  void use_saved_views();
  void free_unsharded();
  void use_sharded_views();

  // Of all handles: streams that wait for each other where a forward begins and a backward is over.
  static void begin_forward(Run& run);
  static void await_reductions(Run& run, const Fsdp1Options& options);

  /// prepare_gradient_for_backward
  void prepare_gradient();
  /// Of _post_backward_hook: reduces the gradient that has been accumulated.
  void reduce_gradient();
  /// prepare_gradient_for_optim
  void finish_gradient() { sharded_grad_ = std::move(saved_grad_shard_); }
  /// _reset_flat_param_grad_info_if_needed: when zero_grad has dropped all views of it.
  void drop_gradient_if_unused();

  /// The leaf that the gradient is accumulated for.
  const Tensor& flat_parameter() const { return full_; }
  /// Whether any of its parameters is trained: then all of them get gradients.
  bool trains() const { return full_.requires_grad(); }
  /// Those that this rank has for its parameters.
  TensorList gradients() const;

  // Of the passes over the model.
  bool needs_pre_backward_unshard = false, prefetched = false, ran_pre_backward_hook = false;
  std::optional<std::size_t> post_forward_index;

 private:
  struct Piece {
    Parameter* parameter;  // none of padding
    std::int64_t offset, elements;
    Dims sizes;
    bool trains;
    Tensor sharded = {}, view = {};
    bool has_gradient() const { return sharded && sharded.grad(); }
  };

  void add(Parameter* parameter, const Dims& sizes);
  void pad_to(std::int64_t multiple);
  void flatten();
  void make_shards(const Tensor& flat);

  Run& run_;
  const Fsdp1Options options_;
  std::vector<Piece> pieces_;
  Dtype dtype_, unsharded_dtype_;
  std::int64_t elements_ = 0, shard_elements_ = 0;
  Tensor local_shard_, low_precision_shard_, full_;
  Tensor sharded_grad_, saved_grad_shard_;
};

}  // namespace tidemark
