// One parameter of fully_shard: whole, as it is registered while its group computes, and this rank's shard of it.
// torch 2.11.0: torch/distributed/fsdp/_fully_shard/_fsdp_param.py
#pragma once
#include <optional>

#include "nn/module.h"
#include "parallel/fsdp2.h"
#include "parallel/redistribute.h"
#include "train/optimizer.h"

namespace tidemark {

/// What of the first dimension is one rank's, as torch.chunk cuts it: equal parts, the last of them short, and none for
/// ranks beyond it.
struct ShardRows {
  std::int64_t padded = 0, own = 0;
};
ShardRows shard_rows(std::int64_t rows, std::int64_t ranks, std::int64_t rank);

class FsdpParam {
 public:
  /// Makes the shard; the whole stays with whoever else holds it.
  FsdpParam(Run& run, const Module& module, Parameter& parameter, const Fsdp2Options& options);

  /// What is sent of it: this rank's shard with its padding, or a part of the ranks'.
  const Tensor& gathered_from() const { return part_ ? part_ : padded_; }
  /// Whether that is on the host.
  bool is_offloaded() const { return offload_to_cpu_ && !part_; }
  bool is_cast() const { return param_dtype_.has_value(); }
  Dtype gathered_dtype() const { return param_dtype_.value_or(padded_.dtype()); }
  /// Of the whole, with the padding of all ranks.
  std::int64_t gathered_elements() const { return gathered_elements_; }

  const Tensor& sharded() const { return sharded_; }
  bool requires_grad() const { return sharded_.requires_grad(); }
  Dtype dtype() const { return sharded_.dtype(); }

  const Dims& sizes() const { return sizes_; }  // of the whole
  bool is_of(const Parameter& parameter) const { return &parameter_ == &parameter; }
  /// What all ranks have, gathered, less their padding.  torch: distributed/tensor/placement_types.py,
  /// _to_replicate_tensor
  Tensor full_tensor() const;

  /// init_all_gather_outputs, alloc_all_gather_outputs
  void allocate();
  void to_unsharded();
  void to_sharded();
  /// Keeps what one of `ranks` ranks would have.
  void to_sharded_post_forward(std::int64_t ranks);

  /// accumulate_unsharded_grad_if_needed and to_accumulated_grad_if_needed
  void accumulate_unsharded_grad();
  void to_accumulated_grad(std::optional<Dtype> reduce_dtype);
  /// _set_unsharded_grad_dtypes before a backward pass: a gradient that starts to wait for its reduction is cast to the
  /// type that it is reduced in; others stay as they are computed.
  void set_gradient_dtype(Dtype reduced, bool reduce_grads);
  /// The whole gradient, if there is one; it is this object's no longer.
  Tensor take_gradient();
  /// `reduced` of a flat buffer: becomes the shard's gradient, or is added to it in place.
  void give_gradient(const Tensor& reduced);

 private:
  void free();
  Tensor inner(Tensor gradient) const;

  Run& run_;
  Parameter& parameter_;
  const bool offload_to_cpu_;
  const Dims sizes_;
  std::int64_t gathered_elements_;
  Tensor padded_;     // _sharded_param_data
  Tensor sharded_;    // sharded_param
  Tensor unsharded_;  // _unsharded_param; null until it has been gathered
  Tensor part_;       // _sharded_post_forward_param_data
  Tensor accumulated_grad_;
  std::optional<Dtype> param_dtype_;
  // Of one that is a part of a matrix: how its gradient lies on the devices that have the others.
  bool distributed_ = false;
  std::int8_t split_ = -1;
  Mesh mesh_;
  GradientPlacement placement_ = GradientPlacement::plain;
};

}  // namespace tidemark
