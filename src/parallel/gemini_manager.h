// When chunks are gathered and let go of.  colossalai/zero/gemini/{chunk/manager,gemini_mgr,gemini_hook,
// placement_policy}.py (0.5.0): ChunkManager, GeminiManager, GeminiZeROHook and StaticPlacementPolicy
#pragma once
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "parallel/gemini.h"
#include "parallel/gemini_chunk.h"
#include "parallel/gemini_search.h"

namespace tidemark {

class GeminiManager {
 public:
  GeminiManager(Run& run, const GeminiOptions& options, const ChunkSize& chunk_size);

  struct Place {
    GeminiChunk* chunk = nullptr;
    std::size_t index = 0;
  };
  /// A chunk of parameters, or of the copies that the optimizer updates, in the order of registration.
  using Group = std::deque<GeminiChunk>;
  /// register_tensor, of a parameter in its type, whose place is looked up by it from now on.
  Place add_parameter(const Tensor& parameter);
  /// register_tensor, of its copy in float32, which nothing else holds.
  Place add_master(Tensor copy);
  /// close_all_groups; then static placement knows what it keeps: setup_grads_device.
  void close_all();

  /// Where a parameter lies; none of one that is not in a chunk.
  const Place* find(const Tensor& tensor) const;

  /// pre_op and post_op: an operation that takes these parameters comes, forward or backward; it is over.
  void before_operation(const std::vector<Place>& parameters);
  void after_operation(const std::vector<Place>& parameters);

  /// GeminiDDP.grad_handle: the gradient is copied into a chunk, which may be complete with it.
  void take_gradient(const Place& place, const Tensor& gradient);

  void begin_backward() { in_backward_ = true; }
  /// _post_backward.  Throws Error{unsupported} when a parameter had no gradient.
  void end_backward();
  void end_step() { accumulating_ = false; }

  Group& parameter_chunks() { return parameters_; }
  /// Passes so far.  What is let go of before an operation is what the second pass found, from the third on.
  std::int64_t passes() const { return passes_; }

 private:
  using Chunks = std::vector<GeminiChunk*>;
  struct ById {
    bool operator()(const GeminiChunk* a, const GeminiChunk* b) const { return a->id() < b->id(); }
  };

  bool reuses_chunks() const { return !options_.enable_gradient_accumulation; }
  Place add(Group& group, Tensor tensor, const Dims& sizes, Dtype dtype);
  const Chunks& can_evict(const Chunks& chunks);
  void evict(const Chunks& chunks);
  void access(GeminiChunk& chunk);
  void release(GeminiChunk& chunk);
  GeminiChunk& chunk_for_gradient(GeminiChunk& chunk);
  void reduce(GeminiChunk& chunk, GeminiChunk& gradients);

  Run& run_;
  const GeminiOptions options_;
  const ChunkSize chunk_size_;
  Group parameters_, masters_;
  std::int64_t next_id_ = 0;
  std::unordered_map<const TensorImpl*, Place> places_;
  std::set<GeminiChunk*, ById> accessed_;
  double keep_gathered_bytes_ = 0;

  /// _get_layout_info, which is asked once for each of these, and remembers.
  struct Question {
    std::int64_t operation;
    bool is_first_pass;
    Chunks chunks;
    bool operator<(const Question& other) const {
      return std::tie(operation, is_first_pass, chunks) < std::tie(other.operation, other.is_first_pass, other.chunks);
    }
  };
  std::map<Question, Chunks> layouts_;
  std::int64_t operation_ = -1, passes_ = 0;
  bool in_backward_ = false, accumulating_ = false;
};

}  // namespace tidemark
