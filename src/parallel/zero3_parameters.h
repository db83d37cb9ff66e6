// Parameters that are whole for a while and in parts otherwise.
// deepspeed/runtime/zero/partition_parameters.py (0.19.8): Init, AllGatherHandle, AllGatherCoalescedHandle
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "nn/module.h"
#include "parallel/zero3.h"

namespace tidemark {

/// torch.cuda.Stream: 0 is the default stream.
constexpr StreamId kAllGatherStream = 1, kReduceStream = 2;
constexpr StreamId kNcclStream = 3;  // ProcessGroupNCCL's own

class GatherHandle;
struct Zero3Module;

/// What Init hangs on a parameter, under the names ds_….
struct Zero3Parameter {
  enum class Status { available, not_available, inflight };

  Tensor tensor;       // its storage is the whole one while there is one
  std::size_t id = 0;  // ds_id, by the order in which they were cut
  std::int64_t elements = 0, part_elements = 0;
  Status status = Status::available;
  bool persistent = false;
  bool of_leaf = false;                    // ds_z3_leaf_module
  Ref<Storage> part;                       // ds_tensor; none on the host
  std::shared_ptr<GatherHandle> handle;    // in the registry of parameters in flight
  std::vector<const Zero3Module*> active;  // ds_active_sub_modules
  bool trains() const { return tensor.requires_grad(); }
  Dtype dtype() const { return tensor.dtype(); }  // bf16, but for adapters of a model that was made in parts
};

using Zero3Parameters = std::vector<Zero3Parameter*>;

/// An all-gather that goes on; what it gathered into lives as long as the handle.
class GatherHandle {
 public:
  GatherHandle(Run& run, Zero3Parameters parameters) : run_(run), parameters_(std::move(parameters)) {}
  void wait();

 private:
  friend class ParameterStore;
  Run& run_;
  const Zero3Parameters parameters_;
  std::vector<Tensor> flat_;             // of several parameters, which are copied out of it; one for each type
  std::vector<Ref<Storage>> held_;       // parts on their way from the host
  std::optional<EventNumber> gathered_;  // none where there is nothing to gather
  bool complete_ = false;
};

/// All parameters of a model, and what gathers and partitions them.
class ParameterStore {
 public:
  ParameterStore(Run& run, const Zero3Options& options);

  /// One more, which is whole.
  Zero3Parameter& add(const Tensor& tensor);
  /// One more, of a tensor that has no memory yet.
  Zero3Parameter& make(const Tensor& tensor);
  /// Init._partition_param, for the first time.
  void cut(Zero3Parameter& parameter);
  /// DeepSpeedZeRoOffload._convert_to_zero_parameters: those that nobody has cut yet.
  void convert(Module& root);

  /// As Module.named_parameters has them.
  const Zero3Parameters& all() const { return all_; }
  Zero3Parameter& of(const Tensor& tensor);
  Zero3Parameter* find(const Tensor& tensor);

  /// param.all_gather_coalesced: returns at once.
  std::shared_ptr<GatherHandle> start_gather(Zero3Parameters parameters);
  /// param.all_gather(list): those that are not there, one after the other or together.
  void gather(const Zero3Parameters& parameters);
  /// param.partition: what was gathered is let go of.
  void partition(Zero3Parameter& parameter);
  /// Of all trained ones, in one buffer.  utils.defragment
  Tensor defragment();

 private:
  friend class GatherHandle;
  std::int64_t whole_elements(const Zero3Parameter& parameter) const {
    return parameter.part_elements * options_.ranks;
  }
  Ref<Storage> on_device(const Zero3Parameter& parameter);
  void gather_alone(Zero3Parameter& parameter);
  void gather_of_type(GatherHandle& handle, Dtype dtype);

  Run& run_;
  const Zero3Options options_;
  std::deque<Zero3Parameter> parameters_;
  std::size_t cut_ = 0;  // Init.param_id
  Zero3Parameters all_;
  std::unordered_map<const TensorImpl*, Zero3Parameter*> known_;
  Ref<Storage> nothing_;  // of a parameter that is in parts
};

}  // namespace tidemark
