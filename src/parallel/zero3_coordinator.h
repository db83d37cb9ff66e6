// When parameters are gathered, gathered ahead and let go of.
// deepspeed/runtime/zero/partitioned_param_coordinator.py (0.19.8): PartitionedParameterCoordinator
#pragma once
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "parallel/zero3_parameters.h"

namespace tidemark {

/// A module as DeepSpeedZeRoOffload sees it.
struct Zero3Module {
  Zero3Parameters own, external;  // external: asked for by others than their own module
  Zero3Parameters within;         // its own and those of all modules in it
  bool is_leaf = false;           // z3_leaf_module: `own` is all that is within
  Zero3Parameters recomputed;     // ds_recompute_parameters
  int gradients_remaining = 0;    // ds_grads_remaining
  ModuleHooks hooks;
  std::function<void()> before_backward, after_backward;

  Zero3Parameters parameters() const;
  /// iter_params(recurse=True)
  Zero3Parameters all_parameters() const;
};

class Coordinator {
 public:
  Coordinator(Run& run, ParameterStore& store, const Zero3Options& options);

  /// The beginning of a forward pass.
  void reset_step();
  void enter(Zero3Module& module, bool forward);
  void release_module(Zero3Module& module, bool forward);
  /// Modules whose inputs need no gradient are left by the end of the backward pass.
  void release_backward_leftovers();
  void release_and_reset_all();
  /// Whether the last passes, as many as this, began with a trace: each was then like the one before.
  bool has_known_for(std::int64_t passes) const { return known_passes_ >= passes; }

 private:
  enum class Trace { record, complete, invalid };
  struct Use {
    Zero3Parameter* parameter;
    std::int64_t step;
  };

  void check_trace(const Zero3Module& module);
  void invalidate();
  void finish_trace();
  /// assert_ints_same_as_other_ranks: two small tensors, one after the other.
  void compare_with_other_ranks(std::size_t count);
  void clean_in_flight();
  void fetch(Zero3Module& module, bool forward);
  void await(Zero3Parameter& parameter);
  void land(Zero3Parameter& parameter);
  void start_gather(const Zero3Parameters& parameters);
  void forget_fetched(const Zero3Parameters& parameters);
  void prefetch();
  void release(Zero3Parameter& parameter);
  std::set<const Zero3Parameter*>& to_release(const Zero3Module& module);
  std::int64_t last_step_of(const Zero3Parameter& parameter) const;

  Run& run_;
  ParameterStore& store_;
  const Zero3Options options_;
  const StreamId gather_stream_;
  Trace trace_ = Trace::invalid;
  std::int64_t known_passes_ = 0;
  std::int64_t step_ = 0, live_ = 0;  // modules entered in this pass; elements that are whole
  std::vector<Zero3Module*> order_;
  std::vector<Use> uses_;
  std::deque<Use> queue_;
  std::unordered_map<const Zero3Parameter*, std::int64_t> last_steps_;  // most_recent_step_id_param_fetched_for
  Zero3Parameters in_flight_;
  std::vector<Zero3Module*> active_backward_;
  std::map<std::pair<const Zero3Module*, std::int64_t>, std::set<const Zero3Parameter*>> to_release_;
};

}  // namespace tidemark
