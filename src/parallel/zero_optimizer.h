// DeepSpeedZeroOptimizer, stages 1 and 2: each of the optimizer's groups is a flat tensor of its own.
// deepspeed/runtime/zero/stage_1_and_2.py (0.19.8)
#pragma once
#include <memory>
#include <optional>
#include <unordered_map>

#include "parallel/partition.h"
#include "parallel/zero.h"

namespace tidemark {

class ZeroOptimizer {
 public:
  /// `groups`: the optimizer's, none of them empty.
  ZeroOptimizer(Run& run, const std::vector<TensorList>& groups, const ZeroOptions& options);
  virtual ~ZeroOptimizer() = default;
  ZeroOptimizer(const ZeroOptimizer&) = delete;
  ZeroOptimizer& operator=(const ZeroOptimizer&) = delete;

  /// What is made once parameters are flat; the tensors that the optimizer is made for.
  virtual TensorList make_states();
  /// process_gradients, of a leaf whose gradient is there.
  void gradient_is_ready(const Tensor& leaf);
  /// DeepSpeedEngine.backward
  void backward(const Tensor& loss, bool is_last);
  virtual void step(Optimizer& optimizer);

 protected:
  struct Slice {
    std::int64_t rank, elements;
  };

  /// Of the optimizer's.
  struct Group {
    std::size_t first;  // of its parameters, which are neighbours
    Partition partition;
    std::vector<std::size_t> mine = {};  // parameters with something in this rank's part
    Tensor master = {};
    std::optional<TensorList> accumulated = {};  // all_grad_tensors
    TensorList averaged = {};                    // averaged_gradients
  };

  const Group& group_of(std::size_t index) const { return groups_[group_of_[index]]; }
  /// What a rank's part has of a parameter, in elements.
  std::int64_t share(std::size_t index, std::int64_t rank) const {
    const Group& group = group_of(index);
    return group.partition.share(index - group.first, rank);
  }
  bool is_mine(std::size_t index) const { return share(index, options_.rank) > 0; }
  /// _flatten_dense_tensors: a view of a single one.
  Tensor flatten(const TensorList& tensors, std::int64_t elements);
  /// This rank's part of a group in another type.
  Tensor allocated(const char* name, const Group& group, Dtype dtype);

  /// copy_grads_in_partition: what happens to a reduced gradient that has something in this rank's part.
  virtual void keep_gradient(std::size_t index);
  /// Of the epilogue: what the step will find.
  virtual void collect_gradients();
  /// Of a gradient that is larger than a bucket, which stays where it is.
  virtual void take_large_gradient(const Tensor&) {}

  Run& run_;
  TensorList parameters_;  // of one group after the other
  const ZeroOptions options_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // by parameter
  bool is_last_ = false;               // is_gradient_accumulation_boundary

 private:
  void add_group(const TensorList& parameters);
  void flatten_parameters(const Group& group);
  void make_master(Group& group);
  bool fits_twice(const Partition& partition);
  Tensor flattened_here(const TensorList& parameters, const Partition& partition);
  Tensor flattened_on_host(const TensorList& parameters, const Partition& partition);
  void setup_bucket();
  void add_to_bucket(std::size_t index);
  void reduce_bucket();
  std::vector<Slice> slices() const;
  void average_bucket();
  void send(const std::vector<Slice>& slices);
  void send_whole();
  void finish_gradients();
  void collect_gradients(Group& group);
  TensorList flat_partition(const Group& group);
  void set_master_gradient(Group& group);
  TensorList averaged() const;
  TensorList norms() const;

  struct {
    TensorList buffers;
    std::size_t current = 0;
    std::int64_t elements = 0;
    std::vector<std::size_t> parameters;
  } bucket_;
  std::unordered_map<const TensorImpl*, std::size_t> indices_;
  Tensor kept_, global_grad_norm_;
  bool ready_for_gradients_ = false;
};

/// With offload_optimizer: states, and the gradients that they are updated with, on the host.
std::unique_ptr<ZeroOptimizer> zero_on_host(Run& run, const std::vector<TensorList>& groups,
                                            const ZeroOptions& options);

}  // namespace tidemark
