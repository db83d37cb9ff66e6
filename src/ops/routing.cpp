// What routers of mixtures of experts are made of: the best few, order, counts.  torch 2.11.0: aten/src/ATen/native/
// {Sorting.cpp,TensorAdvancedIndexing.cpp,Onehot.cpp}, cuda/{Sort.cpp,Sort.cu,SummaryOps.cu,Indexing.cu}
#include <fmt/format.h>

#include "ops/cub.h"
#include "ops/in_place.h"
#include "ops/ops.h"
#include "tensor/mismatch.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

Tensors fill_like_gradient(Backward& call) {  // grad.masked_fill(mask, 0)
  return {empty(call.run, call.gradient().sizes(), call.gradient().dtype())};
}

}  // namespace

/// Values and their places; keeps the places.
std::array<Tensor, 2> topk(Tensor x, std::int64_t k) {
  const Op op(x, "aten::topk");
  Dims sizes = x.sizes();
  if (k > sizes[-1]) throw TensorMismatch(fmt::format("topk of {} of {}", k, sizes[-1]));
  sizes[-1] = k;
  Tensor values = empty(x.run(), sizes, x.dtype()), indices = empty(x.run(), sizes, Dtype::int64);
  const Facts facts{.sizes = x.sizes()};
  Tensors saved{indices};
  values = record(
      std::move(values), {std::move(x)},
      {.name = "TopkBackward0", .saved = std::move(saved), .facts = facts, .backward = [](Backward& call) -> Tensors {
         return {empty(call.run, call.facts.sizes, call.gradient().dtype())};
       }});
  return {std::move(values), std::move(indices)};
}

/// Of whole numbers (N): values and where they were.  torch: native/cuda/Sort.cpp, should_use_small_sort
std::array<Tensor, 2> sort(Tensor x) {
  const Op op(x, "aten::sort");
  TM_CHECK(x.dims() == 1 && x.dtype() == Dtype::int64, "sorting is of one row of whole numbers here");
  constexpr std::int64_t kMostOfSmall = 4096, kPasses = 8;  // of all 64 bits
  Tensor values = empty_like(x), indices = empty_like(x);
  const Tensor range = empty_like(x);
  if (x.elements() > kMostOfSmall) {
    const Setting<Category> category(x.run().category, Category::workspace);
    x.run().allocate(cub_sort_bytes(x.elements(), kPasses, x.run().card())).reset();
  }
  return {std::move(values), std::move(indices)};
}

Tensor histc(Tensor x, std::int64_t bins) {
  const Op op(x, "aten::histc");
  TM_CHECK(!is_floating(x.dtype()), "histograms are of whole numbers here");
  Tensor counts = empty(x.run(), Dims{bins}, x.dtype());
  if (bins == 1 && x.elements() > 0) {  // from 0 to 0: it looks for the smallest and the largest
    Tensor least = max(x);
    if (!x.run().torch().finds_both_ends) least.reset();
    max(x);
  }
  return counts;
}

Tensor one_hot(Tensor x, std::int64_t classes) {
  const Op op(x, "aten::one_hot");
  Dims sizes = x.sizes();
  sizes.push_back(classes);
  return empty(x.run(), sizes, x.dtype());
}

/// Keeps the mask.
Tensor masked_fill(Tensor x, Tensor mask) {
  const Op op(x, "aten::masked_fill");
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  Tensors saved{std::move(mask)};
  return record(std::move(y), {std::move(x)},
                {.name = "MaskedFillBackward0", .saved = std::move(saved), .backward = fill_like_gradient});
}

Tensor masked_fill_(Tensor x, Tensor mask) {
  const Tensor base = x.impl().base;
  if (base && (needs_grad(x) || needs_grad(base))) return masked_fill_part(std::move(x), std::move(mask));
  Tensor y = x;
  Tensors saved{std::move(mask)};
  return record(std::move(y), {std::move(x)},
                {.name = "MaskedFillBackward0", .saved = std::move(saved), .backward = fill_like_gradient});
}

/// Keeps the index, and the source, whose sizes its gradient has.
Tensor index_add_(Tensor x, Tensor index, Tensor source) {
  Tensor y = x;
  const Facts facts{.sizes = source.sizes()};
  Tensors saved;
  if (needs_grad(source)) saved = {std::move(index), source};
  return record(std::move(y), {std::move(x), std::move(source)},
                {.name = "IndexAddBackward0",
                 .saved = std::move(saved),
                 .facts = facts,
                 .backward = [](Backward& call) -> Tensors {
                   Tensor source_gradient;  // grad.index_select(0, index)
                   if (call.needs(1)) source_gradient = empty(call.run, call.facts.sizes, call.gradient().dtype());
                   return {call.needs(0) ? call.gradient() : Tensor(), std::move(source_gradient)};
                 }});
}

/// In place: nothing.
Tensor scatter_add_(Tensor x, Tensor, Tensor source) {
  TM_CHECK(!x.requires_grad() && !source.requires_grad(), "scattered sums have no gradient here");
  return x;
}

}  // namespace tidemark
