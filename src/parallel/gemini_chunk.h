// A chunk of Colossal-AI's Gemini: parameters that are gathered together, and of which each rank keeps its share in
// between.  colossalai/zero/gemini/chunk/chunk.py (0.5.0)
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "tensor/run.h"

namespace tidemark {

/// async_reduce_stream, of which blocks of the allocator are its own.
constexpr StreamId kGeminiReduceStream = 1;

enum class ChunkTensorState : std::uint8_t { hold, compute, hold_after_bwd, ready_for_reduce };

/// A parameter, or the copy of it that the optimizer updates, which has no tensor of its own.
struct ChunkTensor {
  Tensor parameter = {};
  Dims sizes = {};
  std::int64_t offset = 0, elements = 0;
  ChunkTensorState state = ChunkTensorState::hold;
};

struct ChunkShape {
  std::int64_t elements = 0, ranks = 1, rank = 0;
  Dtype dtype = Dtype::f16;
  bool keep_gathered = false;
};

class GeminiChunk {
 public:
  /// Whole, and open for tensors.
  GeminiChunk(Run& run, std::int64_t id, const ChunkShape& shape);

  bool has_room_for(std::int64_t elements) const { return utilized_ + elements <= shape_.elements; }
  /// append_tensor: the next one; what it was before is let go of.
  std::size_t append(Tensor parameter, const Dims& sizes);
  /// close_chunk: this rank's share stays.
  void close();

  /// Makes it usable: access_chunk.
  void access() { gather(); }
  /// release_chunk, which chunks that are kept gathered pass over.
  void release() { scatter(); }
  /// All gradients in it are summed up over the ranks.
  void reduce();
  /// A chunk for gradients, beside that of the parameters: init_grad_chunk.
  GeminiChunk& init_grad_chunk(std::int64_t& next_id);
  /// rearrange_accumulated_grad_chunk, of such a chunk.
  void take_up_again();

  /// tensor_trans_state, which passes over what cannot follow.
  void set_state(std::size_t tensor, ChunkTensorState to);
  bool can_release() const {
    return !shape_.keep_gathered && count(ChunkTensorState::ready_for_reduce) == 0 &&
           count(ChunkTensorState::compute) == 0;
  }
  bool can_reduce() const { return count(ChunkTensorState::ready_for_reduce) == tensors_.size(); }
  bool is_gathered() const { return gathered_; }
  bool is_kept_gathered() const { return shape_.keep_gathered; }

  /// What of it is used, as it lies here: all of it, or this rank's share.
  Tensor valid() const;
  /// Elements `begin` to `end` of what lies here that belong to a tensor; none where `begin` is not below `end`.
  struct Range {
    std::int64_t begin = 0, end = 0;
  };
  Range range_of(std::size_t tensor) const;
  const Tensor& payload() const { return gathered_ ? whole_ : shard_; }

  std::int64_t id() const { return id_; }
  std::int64_t bytes() const { return shape_.elements * size_of(shape_.dtype); }
  const std::vector<ChunkTensor>& tensors() const { return tensors_; }
  GeminiChunk* grad_chunk() const { return grad_chunk_.get(); }

 private:
  std::size_t count(ChunkTensorState state) const { return counts_[static_cast<std::size_t>(state)]; }
  std::int64_t shard_elements() const { return shape_.elements / shape_.ranks; }
  Tensor buffer(const char* name, std::int64_t elements) const;
  void show(const ChunkTensor& tensor) const;
  void gather();
  void scatter();

  Run& run_;
  const std::int64_t id_;
  const ChunkShape shape_;
  std::int64_t utilized_ = 0;
  Category category_ = Category::parameters;
  Tensor whole_, shard_;  // the memory of the first comes and goes
  bool gathered_ = true;
  std::vector<ChunkTensor> tensors_;
  std::array<std::size_t, 4> counts_{};
  std::unique_ptr<GeminiChunk> grad_chunk_;
};

}  // namespace tidemark
