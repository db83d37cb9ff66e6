// DeepSpeedZeroOptimizer, stages 1 and 2, with one group of parameters.
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
  ZeroOptimizer(Run& run, TensorList parameters, const ZeroOptions& options);
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

  bool is_mine(std::size_t index) const { return partition_.share(index, options_.rank) > 0; }
  /// _flatten_dense_tensors: a view of a single one.
  Tensor flatten(const TensorList& tensors, std::int64_t elements);
  /// This rank's part in another type.
  Tensor allocated(const char* name, Dtype dtype);

  /// copy_grads_in_partition: what happens to a reduced gradient that has something in this rank's part.
  virtual void keep_gradient(std::size_t index);
  /// Of the epilogue: what the step will find.
  virtual void collect_gradients();
  /// Of a gradient that is larger than a bucket, which stays where it is.
  virtual void take_large_gradient(const Tensor&) {}

  Run& run_;
  const TensorList parameters_;
  const ZeroOptions options_;
  const Partition partition_;
  std::vector<std::size_t> mine_;  // parameters with something in this rank's part
  bool is_last_ = false;           // is_gradient_accumulation_boundary

 private:
  void flatten_parameters();
  bool fits_twice();
  Tensor flattened_here();
  Tensor flattened_on_host();
  void setup_bucket();
  void add_to_bucket(std::size_t index);
  void reduce_bucket();
  std::vector<Slice> slices() const;
  void average_bucket();
  void send(const std::vector<Slice>& slices);
  void send_whole();
  void finish_gradients();
  TensorList flat_partition(const TensorList& gradients);
  void set_master_gradient();

  struct {
    TensorList buffers;
    std::size_t current = 0;
    std::int64_t elements = 0;
    std::vector<std::size_t> parameters;
  } bucket_;
  std::unordered_map<const TensorImpl*, std::size_t> indices_;
  Tensor master_, kept_, global_grad_norm_;
  bool ready_for_gradients_ = false;
  std::optional<TensorList> accumulated_;  // all_grad_tensors
  TensorList averaged_;                    // averaged_gradients
};

/// With offload_optimizer: states, and the gradients that they are updated with, on the host.
std::unique_ptr<ZeroOptimizer> zero_on_host(Run& run, TensorList parameters, const ZeroOptions& options);

}  // namespace tidemark
