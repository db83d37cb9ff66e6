// How a tensor lies on the devices of a mesh of one dimension, and what moving it to another placement allocates.
// torch: torch/distributed/tensor/{_api,_redistribute,placement_types}.py, distributed/_functional_collectives.py
// (2.11.0)
#pragma once
#include "ops/ops.h"

namespace tidemark {

struct Placement {
  enum Kind : std::int8_t { replicate, shard, partial };
  Kind kind = replicate;
  std::int8_t dimension = 0;  // of a shard; may be counted from the end
  bool operator==(const Placement&) const = default;

  static constexpr Placement split(int dimension) { return {shard, static_cast<std::int8_t>(dimension)}; }
  static constexpr Placement sums() { return {partial, 0}; }
};

/// Equal parts: sizes that the devices do not divide are refused where weights are split.
struct Mesh {
  std::int64_t devices = 1, rank = 0;
};

/// redistribute_local_tensor: what the devices hold of a tensor, moved; itself where nothing moves.  With `async_op` a
/// collective goes on until its result is used.
Tensor moved(const Tensor& local, Placement from, Placement to, const Mesh& mesh, bool async_op);

/// The tensor, known to be a part along the placement's dimension if it is one.
Tensor known_as(Tensor tensor, Placement placement, const Mesh& mesh);

/// DTensor.from_local: its gradient comes back as `gradient` and leaves as `placement`.
Tensor from_local(const Tensor& local, Placement placement, Placement gradient, const Mesh& mesh);
/// DTensor.redistribute: its gradient comes as `gradient` and goes back to `from`.
Tensor redistribute(const Tensor& tensor, Placement from, Placement to, Placement gradient, const Mesh& mesh,
                    bool async_op);
/// DTensor.to_local
Tensor to_local(const Tensor& tensor);
/// Whether to_local gave this tensor, which autograd takes for a view.
bool is_view_of_local(const Tensor& tensor);

}  // namespace tidemark
