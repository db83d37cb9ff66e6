// Reading and writing where a mask says so.  torch: aten/src/ATen/native/cuda/{IndexKernel.cpp,Indexing.cu,Nonzero.cu,
// ScanKernels.cpp}, cub/device (as torch 2.11.0 brings it)
#include <algorithm>

#include "ops/advanced_index.h"
#include "ops/cub.h"
#include "ops/ops.h"
#include "ops/scratch.h"

namespace tidemark {
namespace {

/// at::cuda::cub::mask_exclusive_sum: int64 sums, 128 threads of 7 items, in chunks of at most 2^30 items.
void mask_exclusive_sum(Run& run, std::int64_t items) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  take_scratch(run, cub_scan_bytes(std::min(items, kMost)));
  for (items -= kMost; items > 0; items -= kMost) {
    const Tensor first = empty(run, Dims{1}, Dtype::int64);
    take_scratch(run, cub_scan_bytes(std::min(items, kMost)));
  }
}

/// Items per tile of cub::DeviceSelect::Flagged, by the architecture that the kernel was compiled for.
std::int64_t select_tile(const Card& card) {
  const std::int64_t capability = card.compute_capability_major * 10 + card.compute_capability_minor;
  if (capability >= 100) return 3520;
  if (capability >= 90) return 4224;
  return capability == 80 ? 2304 : 640;
}

/// The same of cub::DeviceSelect::Unique, of whole numbers of 4 or 8 bytes; found by recording (torch 2.11.0
/// and 2.15.0).
std::int64_t unique_tile(const Card& card, bool is_wide) {
  const std::int64_t capability = card.compute_capability_major * 10 + card.compute_capability_minor;
  if (capability >= 90 && is_wide) return 4224;
  if (capability >= 90) return capability >= 100 ? 5760 : 6528;
  if (capability == 80) return is_wide ? 1920 : 4608;
  return is_wide ? 640 : 1280;
}

/// Indices of the true ones among the elements of `sizes`, as columns.  torch: nonzero_cuda_out_impl
Tensor nonzero(Run& run, const Dims& sizes, std::int64_t found) {
  const Card& card = run.card();
  const std::int64_t items = elements_of(sizes);
  const Tensor count = empty(run, Dims{}, Dtype::int32);
  // cub::DeviceReduce::Sum: nothing for one tile; else five blocks of 256 threads for each that the card runs at once
  constexpr std::int64_t kOneTile = 256 * 16;
  take_scratch(run,
               items <= kOneTile
                   ? 1
                   : cub_aligned(card.multiprocessors * (card.max_threads_per_multiprocessor / 256) * 5 * 4) + 255);
  run.stream_calls.host_waits();  // for their number
  Tensor indices = empty(run, {Dims{found, sizes.count()}, Dims{1, found}}, Dtype::int64);
  take_scratch(run, cub_tiles_bytes(items, select_tile(card), 4));
  return indices;
}

/// A mask of another size than the tensor is made as large.
Tensor as_large(const Tensor& mask, const Tensor& x) {
  return mask.sizes() == x.sizes() && mask.is_contiguous() ? mask : empty(x.run(), x.sizes(), Dtype::boolean);
}

/// torch: masked_select_out_cuda_impl
Tensor selected_by(const Tensor& mask, const Tensor& x, std::int64_t found) {
  Tensor whole_mask = as_large(mask, x);
  const Tensor indices = nonzero(x.run(), x.sizes(), found);
  whole_mask.reset();
  return empty(x.run(), Dims{found}, x.dtype());
}

Tensors masked_scatter_backward(Backward& call) {
  Tensor self = call.needs(0) ? empty_like(call.gradient()) : Tensor();  // masked_fill
  if (!call.needs(1)) return {self, Tensor()};
  const Tensor selected = selected_by(call.saved[0], call.gradient(), elements_of(call.facts.sizes));
  return {self, view_of(selected, {call.facts.sizes, contiguous_strides(call.facts.sizes)})};
}

}  // namespace

/// Keeps the mask.  As many elements of the mask are taken to be true as `source` has.
Tensor masked_scatter(Tensor x, Tensor mask, Tensor source) {
  const Op op(x, "aten::masked_scatter");
  Run& run = x.run();
  Tensor y = clone(detach(x));
  {
    const Tensor sums = empty(run, x.sizes(), Dtype::int64);
    const Tensor whole_mask = as_large(mask, x);
    mask_exclusive_sum(run, x.elements());
  }
  const Facts facts{.sizes = source.sizes()};
  Tensors saved{std::move(mask)};
  return record(std::move(y), {std::move(x), std::move(source)},
                {.name = "MaskedScatterBackward0",
                 .saved = std::move(saved),
                 .facts = facts,
                 .backward = masked_scatter_backward});
}

Tensor index_rows(Tensor x, Tensor rows) { return index(std::move(x), {std::move(rows)}, 0); }

namespace {

Tensor place_in_rows(const char* name, const Tensor& x) {
  const Op op(x, name);
  Dims sizes = x.sizes();
  sizes.erase(-1);
  return empty(x.run(), sizes, Dtype::int64);
}

}  // namespace

Tensor argmax(Tensor x) { return place_in_rows("aten::argmax", x); }
Tensor argmin(Tensor x) { return place_in_rows("aten::argmin", x); }

Tensor index_mask(Tensor x, Tensor mask, std::int64_t found) {
  const Op op(x, "aten::index");
  TM_CHECK(!x.requires_grad() && x.dims() == 1, "a mask chooses among whole numbers here");
  const Tensor indices = nonzero(x.run(), mask.sizes(), found);
  return empty(x.run(), Dims{found}, x.dtype());
}

Tensor nonzero(Tensor x, std::int64_t found) {
  const Op op(x, "aten::nonzero");
  const Tensor in_order = contiguous(x);
  return nonzero(x.run(), x.sizes(), found);
}

/// torch: native/cuda/UniqueCub.cu, compute_unique: what is found keeps the memory of all.
Tensor unique_consecutive(Tensor x, std::int64_t found) {
  const Op op(x, "aten::unique_consecutive");
  TM_CHECK(!is_floating(x.dtype()), "what follows itself is a whole number here");
  Run& run = x.run();
  const Tensor in_order = contiguous(x);
  const Tensor all = empty(run, Dims{x.elements()}, x.dtype()), length = empty(run, Dims{1}, Dtype::int64);
  take_scratch(run, cub_tiles_bytes(x.elements(), unique_tile(run.card(), size_of(x.dtype()) == 8), 4));
  run.stream_calls.host_waits();  // for the length
  return view_of(all, {Dims{found}, Dims{1}});
}

/// torch: native/TensorAdvancedIndexing.cpp, nonzero_numpy
Tensors where_true(Tensor x, std::int64_t found) {
  const Tensor places = nonzero(std::move(x), found);
  Tensors columns;
  for (int d = 0; d < places.dims(); ++d) columns.push_back(select(places, 1, d));
  return columns;
}

/// To int64, after the result is there.
Tensor count_true(Tensor mask) {
  const Op op(mask, "aten::sum");
  Tensor count = empty(mask.run(), Dims{}, Dtype::int64);
  const Tensor widened = empty_like(mask, Dtype::int64);
  return count;
}

}  // namespace tidemark
