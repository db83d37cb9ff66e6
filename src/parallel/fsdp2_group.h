// The parameters of one fully_shard call, which are gathered and reduced together.
// torch 2.11.0: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py
#pragma once
#include <memory>
#include <vector>

#include "parallel/fsdp2_param.h"
#include "parallel/wrapping.h"

namespace tidemark {

/// Of one rank nothing is gathered, and it is empty.
struct AllGatherResult {
  Tensor output;
  std::vector<std::int64_t> chunk_bytes;  // what one rank sent, by parameter
};

class FsdpGroup;

/// What groups share.  torch: FSDPCommContext
struct FsdpContext {
  std::optional<AllGatherResult> all_gather_state;  // see [Note: Overlapping all-gather copy-in and all-gather]
  Tensor reduce_scatter_input;                      // of reduce_scatter_state
  std::vector<FsdpGroup*> post_forward_order;
};

class FsdpGroup {
 public:
  enum class State { idle, forward, pre_backward, post_backward };

  /// `reshard_after_forward` is how many ranks share the parameters after the forward; 0: they stay whole.
  FsdpGroup(Run& run, FsdpContext& context, const std::vector<ManagedParameter>& managed, const Fsdp2Options& options,
            std::int64_t reshard_after_forward);

  void unshard();
  void wait_for_unshard();
  bool is_unsharded() const { return sharding_ == Sharding::unsharded; }
  void reshard();
  /// DTensor.full_tensor() of a sharded one.
  Tensor full_tensor(const Parameter& parameter) const;
  void pre_forward();
  void post_forward();
  void pre_backward();
  void post_backward();
  void finalize_backward();

  State state = State::idle;
  bool reduce_grads = true, reshard_after_backward = true;

 private:
  enum class Sharding { sharded, sharded_post_forward, unsharded };

  AllGatherResult all_gather();
  Tensor cast_shards();
  Tensor upload(const FsdpParam& param);
  void copy_out(const AllGatherResult& result);
  void copy_alone();
  void to_sharded();
  void prefetch_backward();
  void reduce(const std::vector<FsdpParam*>& with_grad, TensorList unsharded_grads);
  Tensor reduce_scatter(std::int64_t elements, Dtype reduce_dtype);
  void check_types();
  Dtype reduced_dtype(Dtype gradient) const;

  Run& run_;
  FsdpContext& context_;
  const Fsdp2Options options_;
  const std::int64_t reshard_after_forward_;
  std::vector<FsdpParam> params_;
  std::optional<Dtype> reduce_dtype_;
  Dtype orig_dtype_ = Dtype::f32;
  Sharding sharding_ = Sharding::sharded;
  std::optional<AllGatherResult> all_gather_result_;
  std::vector<std::size_t> post_forward_indices_;
  Tensor all_reduce_input_;  // of _all_reduce_state
};

}  // namespace tidemark
