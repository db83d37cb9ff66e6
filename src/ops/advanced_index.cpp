// torch: aten/src/ATen/native/TensorAdvancedIndexing.cpp, make_info, AdvancedIndex; IndexingUtils.h, expandTensors;
// cuda/Indexing.cu, index_put_with_sort_kernel (2.11.0)
#include "ops/advanced_index.h"

#include <algorithm>

#include "base/error.h"
#include "ops/cub.h"
#include "ops/in_place.h"
#include "ops/scratch.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

bool is_mask(const Tensor& index) {
  return index && (index.dtype() == Dtype::boolean || index.dtype() == Dtype::uint8);
}

/// What indices come to for x: where they begin, how many dimensions they are for, and their common sizes.
struct Places {
  Tensors columns;  // by dimension of x; empty for `:`
  Dims sizes;
  int first = 0, count = 0;
  bool adjacent = true;
};

/// A mask becomes a column of places for each of its dimensions; all columns are made as large.
Places expanded(const Tensors& indices, std::int64_t found) {
  Places places;
  for (const Tensor& one : indices) {
    if (!is_mask(one)) {
      places.columns.push_back(one);
      continue;
    }
    const Tensor columns = nonzero(one, found);
    for (int d = 0; d < one.dims(); ++d) places.columns.push_back(select(columns, 1, d));
  }
  int last = -1;
  for (int d = 0; d < static_cast<int>(places.columns.size()); ++d) {
    const Tensor& column = places.columns[static_cast<std::size_t>(d)];
    if (!column) continue;
    if (last < 0) places.first = d;
    places.adjacent = places.adjacent && (last < 0 || last == d - 1);
    places.sizes = last < 0 ? column.sizes() : broadcast(places.sizes, column.sizes());
    last = d;
    ++places.count;
  }
  for (Tensor& column : places.columns)
    if (column && column.sizes() != places.sizes) column = expand(column, places.sizes);
  return places;
}

/// The same, where x is, and in order where their strides differ.
Places places_of(const Tensor& x, const Tensors& indices, std::int64_t found) {
  Places places = expanded(indices, found);
  for (Tensor& column : places.columns)
    if (column && column.is_on_host() && !x.is_on_host()) column = empty(x.run(), column.sizes(), column.dtype());
  Dims strides;
  bool alike = true;
  for (const Tensor& column : places.columns) {
    if (!column) continue;
    alike = alike && (strides.count() == 0 || strides == column.layout().strides);
    strides = column.layout().strides;
  }
  if (!alike)
    for (Tensor& column : places.columns)
      if (column) column = contiguous(column);
  return places;
}

Dims indexed_sizes(const Tensor& x, const Places& places) {
  Dims sizes;
  if (!places.adjacent) sizes = places.sizes;
  bool is_in = !places.adjacent;
  for (int d = 0; d < x.dims(); ++d) {
    const bool is_indexed = d < static_cast<int>(places.columns.size()) && places.columns[static_cast<std::size_t>(d)];
    if (!is_indexed) sizes.push_back(x.size(d));
    if (!is_indexed || is_in) continue;
    is_in = true;
    for (const std::int64_t size : places.sizes) sizes.push_back(size);
  }
  return sizes;
}

/// How what is read lies: as the result of an elementwise operation on x, which does not move on where indices do, and
/// on these.  torch: restride_src, restride_index, and TensorIterator
Layout indexed_layout(const Tensor& x, const Places& places) {
  const Tensor& column = places.columns[static_cast<std::size_t>(places.first)];
  Layout source{.sizes = indexed_sizes(x, places), .strides = {}}, index{.sizes = source.sizes, .strides = {}};
  const auto add_index = [&] {
    for (const std::int64_t stride : column.layout().strides) {
      source.strides.push_back(0);
      index.strides.push_back(stride);
    }
  };
  if (!places.adjacent) add_index();
  for (int d = 0; d < x.dims(); ++d) {
    const bool is_indexed = d < static_cast<int>(places.columns.size()) && places.columns[static_cast<std::size_t>(d)];
    if (places.adjacent && d == places.first) add_index();
    if (is_indexed) continue;
    source.strides.push_back(x.layout().strides[d]);
    index.strides.push_back(0);
  }
  const Layout* const operands[] = {&source, &index};
  return elementwise_layout(operands);
}

/// The gradient is added in the order of sorted indices.
Tensors index_backward(Backward& call) {
  Run& run = call.run;
  Tensor self = empty(run, call.facts.sizes, call.gradient().dtype());
  std::int64_t count = 0, indexed = 1;
  const auto integers = [&] { return empty(run, Dims{count}, Dtype::int64); };
  Tensor linear;  // computeLinearIndex: each index times its stride, and their sum
  {
    const Places places = expanded(call.saved, call.facts.a);
    count = elements_of(places.sizes);
    for (int d = 0; d < places.first + places.count; ++d) indexed *= call.facts.sizes[d];
    for (int i = 0; i < places.count; ++i) {
      const bool is_first = !linear;
      if (is_first) linear = integers();
      // on the host until it is multiplied (IndexingUtils.h, computeLinearIndex)
      if (is_first && places.columns[static_cast<std::size_t>(places.first)].is_on_host()) continue;
      const Tensor wrapped = integers();
      if (!is_first) linear = integers();
    }
  }
  const Tensor values = contiguous(call.gradient());
  const Tensor sorted = integers(), original = integers(), range = integers();
  take_scratch(run, cub_sort_bytes(count, cub_sort_passes(indexed), run.card()));
  return {self};
}

/// grad.index_put(indices, zeros_like(values)) and grad.index(indices)
Tensors index_put_backward(Backward& call) {
  const std::int64_t found = call.facts.a;
  const Dtype dtype = call.gradient().dtype();
  Tensor self;
  if (call.needs(0)) {
    const Tensor zeros = empty(call.run, call.facts.sizes, dtype);
    self = empty(call.run, call.gradient().sizes(), dtype);
    const Places places = places_of(call.gradient(), call.saved, found);
  }
  if (!call.needs(1)) return {self, Tensor()};
  const Places places = places_of(call.gradient(), call.saved, found);
  return {self, empty(call.run, indexed_sizes(call.gradient(), places), dtype)};
}

/// CopySlices around IndexPutBackward0: the base's gradient is copied, and the part's cloned.  torch:
/// torch/csrc/autograd/functions/tensor.cpp, CopySlices::apply
Tensors put_into_part_backward(Backward& call) {
  const Dtype dtype = call.gradient().dtype();
  Tensor base = empty(call.run, call.gradient().sizes(), dtype);
  const Tensor part = empty(call.run, call.facts.sizes, dtype);
  Tensor self, values;
  if (call.facts.b != 0) {
    const Tensor zeros = empty(call.run, Dims{call.facts.c}, dtype);
    self = empty(call.run, call.facts.sizes, dtype);
    const Places places = places_of(part, call.saved, call.facts.a);
  }
  if (call.needs(1)) {
    const Places places = places_of(part, call.saved, call.facts.a);
    values = empty(call.run, indexed_sizes(part, places), dtype);
  }
  return {call.needs(0) ? base : Tensor(), values};
}

}  // namespace

/// Keeps the indices.
Tensor index(Tensor x, Tensors indices, std::int64_t found) {
  const Op op(x, "aten::index");
  const auto taken = [&] {
    const Places places = places_of(x, indices, found);
    if (needs_grad(x) && !places.adjacent)
      throw Error(Errc::unsupported, "[index] a gradient of what is indexed in dimensions that lie apart");
    return empty(x.run(), indexed_layout(x, places), x.dtype());
  };
  Tensor y = taken();
  const Facts facts{.sizes = x.sizes(), .a = found};
  return record(std::move(y), {std::move(x)},
                {.name = "IndexBackward0", .saved = std::move(indices), .facts = facts, .backward = index_backward});
}

Tensor masked_select(Tensor x, Tensor mask, std::int64_t found) {
  const Op op(x, "aten::masked_select");
  if (needs_grad(x)) throw Error(Errc::unsupported, "[masked_select] a gradient");
  return index(std::move(x), {std::move(mask)}, found);
}

namespace {

Tensor recorded_put(Tensor x, Tensors indices, Tensor values, std::int64_t found) {
  if (const Tensor base = x.impl().base; base && (needs_grad(x) || needs_grad(values))) {
    const Facts facts{.sizes = x.sizes(), .a = found, .b = needs_grad(x) ? 1 : 0, .c = values.elements()};
    return rebased(
        std::move(x), {base, std::move(values)},
        {.name = "CopySlices", .saved = std::move(indices), .facts = facts, .backward = put_into_part_backward});
  }
  Tensor y = x;
  const Facts facts{.sizes = values.sizes(), .a = found};
  return record(
      std::move(y), {std::move(x), std::move(values)},
      {.name = "IndexPutBackward0", .saved = std::move(indices), .facts = facts, .backward = index_put_backward});
}

}  // namespace

/// The indices are saved before any place is looked for: a checkpointed block that runs again may end there.
/// Note [Where recomputation stops]
Tensor index_put_(Tensor x, Tensors indices, Tensor values, std::int64_t found) {
  const Op op(x, "aten::index_put_");
  Tensor y = recorded_put(std::move(x), indices, values, found);
  {
    const Places places = places_of(y, indices, found);
  }
  return y;
}

void index_put_number(const Tensor& x, const Tensors& indices) {
  const auto used = std::count_if(indices.begin(), indices.end(), [](const Tensor& index) { return bool(index); });
  const bool fills = x.run().torch().fills_at_indices;
  if (fills && used == 1) return;
  const Op op(x, fills ? "aten::scalar_tensor" : "aten::index_put_");
  const Tensor number = empty(x.run(), Dims{}, x.dtype());
}

}  // namespace tidemark
