#include "parallel/redistribute.h"

#include "tensor/mismatch.h"

namespace tidemark {
namespace {

Tensor empty_of(const Tensor& like, const Dims& sizes) { return empty(like.run(), sizes, like.dtype()); }

/// What a collective needs beside its result.
Tensor buffer_of(const Tensor& like, const Dims& sizes) {
  const Setting<Category> category(like.run().category, Category::communication);
  return empty_of(like, sizes);
}

/// _functional_collectives.all_reduce: a copy is made, and reduced where it lies.
Tensor all_reduced(const Tensor& local) { return empty_of(local, local.sizes()); }

/// torch/_utils.py, _maybe_view_chunk_cat, of what all_gather_into_tensor gives.
Tensor gathered(const Tensor& local, int dimension, const Mesh& mesh) {
  const Tensor input = contiguous(local);
  Dims stacked = input.sizes(), sizes = stacked;
  stacked[0] *= mesh.devices;
  sizes[dimension] *= mesh.devices;
  bool may_view = dimension == 0 || input.size(0) == 1;
  for (int d = 1; d < dimension; ++d) may_view = may_view && input.size(d) == 1;
  const Tensor result = may_view ? empty_of(input, stacked) : buffer_of(input, stacked);
  if (may_view) return view_of(result, {sizes, contiguous_strides(sizes)});
  return empty_of(input, sizes);
}

/// Shard._reduce_shard_tensor, reduce_scatter_tensor: parts of other dimensions than the first are put end to end.
Tensor reduce_scattered(const Tensor& local, int dimension, const Mesh& mesh, bool async_op) {
  Tensor input = contiguous(local);
  Dims sizes = input.sizes(), stacked = sizes;
  sizes[dimension] /= mesh.devices;
  stacked = sizes;
  stacked[0] *= mesh.devices;
  if (dimension != 0) input = buffer_of(input, stacked);
  Tensor result = empty_of(input, sizes);
  if (async_op) input.run().start_collective(result, std::move(input));
  return result;
}

/// Shard._select_split_tensor: this rank's part, cloned.
Tensor part_of(const Tensor& local, int dimension, const Mesh& mesh) {
  Layout layout = local.layout();
  layout.sizes[dimension] /= mesh.devices;
  return empty(local.run(), like(layout), local.dtype());
}

/// Redistribute and from_local know at the forward how their gradients will lie.
struct Move {
  Placement from, to;
  Mesh mesh;
  bool async_op = false;
};

Facts facts_of(const Move& move) {
  const auto code = [](Placement p) { return p.kind * 256 + (p.dimension + 128); };
  return {.sizes = {move.mesh.devices, move.mesh.rank},
          .a = code(move.from),
          .b = code(move.to),
          .c = move.async_op ? 1 : 0};
}

Move move_of(const Facts& facts) {
  const auto placement = [](std::int64_t code) {
    return Placement{static_cast<Placement::Kind>(code / 256), static_cast<std::int8_t>(code % 256 - 128)};
  };
  return {placement(facts.a), placement(facts.b), {facts.sizes[0], facts.sizes[1]}, facts.c == 1};
}

Tensors gradient_of_local(Backward& call) { return {call.gradient()}; }

Tensors move_gradient(Backward& call) {
  const Move move = move_of(call.facts);
  return {moved(call.gradient(), move.from, move.to, move.mesh, move.async_op)};
}

/// Inside a DTensor is a tensor that is no view of another.
Tensors move_gradient_out(Backward& call) {
  Tensors gradients = move_gradient(call);
  return {alias(gradients[0])};
}

/// _normalize_placements_for_grad; Redistribute.backward: what was a sum is not made one again.
Placement normalized(Placement forward) { return forward.kind == Placement::partial ? Placement{} : forward; }

}  // namespace

Tensor moved(const Tensor& local, Placement from, Placement to, const Mesh& mesh, bool async_op) {
  if (from == to || mesh.devices == 1) return local;
  local.run().use(local);
  const NoGrad no_grad(local.run());
  const int dimension = to.kind == Placement::shard ? local.layout().sizes.at(to.dimension) : 0;
  if (to.kind == Placement::replicate) {
    if (from.kind == Placement::partial) return all_reduced(local);
    return gathered(local, local.layout().sizes.at(from.dimension), mesh);
  }
  check_match(to.kind == Placement::shard && from.kind != Placement::shard, "no such move between placements");
  if (from.kind == Placement::partial) return reduce_scattered(local, dimension, mesh, async_op);
  return part_of(local, dimension, mesh);
}

Tensor known_as(Tensor tensor, Placement placement, const Mesh& mesh) {
  if (placement.kind != Placement::shard) return tensor;
  tensor.impl().split = static_cast<std::int8_t>(tensor.layout().sizes.at(placement.dimension));
  tensor.impl().parts = static_cast<std::int32_t>(mesh.devices);
  return tensor;
}

Tensor from_local(const Tensor& local, Placement placement, Placement gradient, const Mesh& mesh) {
  const bool gets_whole_gradient = placement.kind == Placement::shard && gradient.kind == Placement::replicate;
  Tensor part = gets_whole_gradient ? known_as(alias(local), placement, mesh) : alias(local);
  return record(std::move(part), {local},
                {.name = "_FromTorchTensorBackward",
                 .facts = facts_of({gradient, normalized(placement), mesh, false}),
                 .backward = move_gradient_out,
                 .distributed = true});
}

Tensor redistribute(const Tensor& tensor, Placement from, Placement to, Placement gradient, const Mesh& mesh,
                    bool async_op) {
  const Op op(tensor.run(), "Redistribute");
  Tensor result = moved(tensor, from, to, mesh, async_op);
  if (result.is(tensor)) result = alias(tensor);
  return record(std::move(result), {tensor},
                {.name = "RedistributeBackward",
                 .facts = facts_of({gradient, normalized(from), mesh, async_op}),
                 .backward = move_gradient,
                 .distributed = true});
}

Tensor to_local(const Tensor& tensor) {
  return record(alias(tensor), {tensor},
                {.name = "_ToTorchTensorBackward", .backward = gradient_of_local, .distributed = false});
}

bool is_view_of_local(const Tensor& tensor) {
  return tensor.impl().grad_fn && tensor.impl().grad_fn->backward == gradient_of_local;
}

}  // namespace tidemark
