#include "parallel/fsdp1_handle.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/arithmetic.h"

namespace tidemark {
namespace {

// Streams of _init_streams, of which blocks of the allocator belong to one each.
constexpr StreamId kPreUnshardStream = 1, kUnshardStream = 2, kPostBackwardStream = 3, kReplicaAllReduceStream = 4;
constexpr std::uint8_t kFreeEvents = 0;     // _free_event_queue
constexpr std::int64_t kAlignedBytes = 16;  // _get_aligned_numel

Tensor flat_of(Run& run, const char* name, std::int64_t elements, Dtype dtype) {
  const Op op(run, name);
  return empty(run, Dims{elements}, dtype);
}

void release(Run& run, const Tensor& tensor) { run.resize(*tensor.impl().storage, 0); }

/// _construct_padding_tensor: torch.ones(...) * value
Tensor padding(Run& run, std::int64_t elements, Dtype dtype) {
  const Tensor ones = flat_of(run, "aten::ones", elements, dtype);
  return flat_of(run, "aten::mul", elements, dtype);
}

Tensor piece_of(const Tensor& flat, const Dims& sizes) {
  Tensor view = alias(flat);
  view.impl().layout = {sizes, contiguous_strides(sizes)};
  return view;
}

/// Of torch.split: the gradients of all pieces as one, and zeros where there is none.
Tensors split_backward(Backward& call) {
  const Op op(call.run, "aten::cat");
  Tensors zeros;
  for (std::size_t i = 0; i < call.gradients.size(); ++i)
    if (!call.gradients[i]) zeros.push_back(empty(call.run, call.node.outputs[i].sizes, call.facts.dtype));
  return {empty(call.run, Dims{call.facts.a}, call.facts.dtype)};
}

}  // namespace

FlatHandle::FlatHandle(Run& run, const std::vector<Parameter*>& parameters, const Fsdp1Options& options)
    : run_(run), options_(options), dtype_(parameters.front()->tensor.dtype()) {
  unsharded_dtype_ = options.param_dtype.value_or(dtype_);
  for (Parameter* parameter : parameters) {
    if (parameter->tensor.dtype() != dtype_)
      throw Error(Errc::bad_value, "FullyShardedDataParallel flattens parameters of one type", "parallel");
    pad_to(kAlignedBytes / size_of(unsharded_dtype_));
    add(parameter, parameter->tensor.sizes());
  }
  pad_to(options.ranks);
  flatten();
}

void FlatHandle::add(Parameter* parameter, const Dims& sizes) {
  pieces_.push_back({.parameter = parameter,
                     .offset = elements_,
                     .elements = elements_of(sizes),
                     .sizes = sizes,
                     .trains = parameter && parameter->tensor.requires_grad()});
  elements_ += elements_of(sizes);
}

/// What is missing to a multiple is a piece without a parameter.
void FlatHandle::pad_to(std::int64_t multiple) {
  const std::int64_t missing = (multiple - elements_ % multiple) % multiple;
  if (missing > 0) add(nullptr, Dims{missing});
}

/// _init_flat_param_and_metadata, then shard
void FlatHandle::flatten() {
  const Setting<Category> category(run_.category, Category::parameters);
  Tensor flat;
  {
    std::vector<Tensor> paddings;
    for (const Piece& piece : pieces_)
      if (!piece.parameter) paddings.push_back(padding(run_, piece.elements, dtype_));
    flat = flat_of(run_, "aten::cat", elements_, dtype_);
  }
  make_shards(flat);
}

void FlatHandle::make_shards(const Tensor& flat) {
  shard_elements_ = elements_ / options_.ranks;
  local_shard_ = flat_of(run_, "aten::clone", shard_elements_, dtype_);
  run_.set_module(*local_shard_.impl().storage, run_.module_of(*pieces_.front().parameter->tensor.impl().storage));
  release(run_, flat);
  const std::int64_t begin = shard_elements_ * options_.rank, end = begin + shard_elements_;
  for (Piece& piece : pieces_) {
    if (!piece.parameter) continue;
    const std::int64_t mine =
        std::max<std::int64_t>(std::min(piece.offset + piece.elements, end) - std::max(piece.offset, begin), 0);
    const Setting<bool> on_host(run_.on_host, true);
    piece.sharded = mine > 0 ? piece_of(local_shard_, Dims{mine}) : empty(run_, Dims{0}, dtype_);
    piece.sharded.impl().requires_grad = piece.trains;
  }
  const Setting<bool> on_host(run_.on_host, true);  // no memory until it is gathered
  full_ = empty(run_, Dims{elements_}, unsharded_dtype_);
  full_.impl().requires_grad = std::ranges::any_of(pieces_, &Piece::trains);
  low_precision_shard_ = empty(run_, Dims{shard_elements_}, unsharded_dtype_);
  use_sharded_views();
}

void FlatHandle::init_attributes() {
  const Setting<Category> category(run_.category, Category::communication);
  if (options_.param_dtype) flat_of(run_, "aten::empty_like", shard_elements_, unsharded_dtype_).reset();
  flat_of(run_, "aten::empty", elements_, unsharded_dtype_).reset();
  if (options_.param_dtype) flat_of(run_, "aten::empty", elements_, dtype_).reset();
}

/// _unshard: pre_unshard, what _FreeEventQueue lets through, unshard and post_unshard
void FlatHandle::unshard() {
  constexpr std::uint32_t kMaxInflightAllGathers = 2;
  const bool is_needed = !is_unsharded(), is_mixed = is_needed && unsharded_dtype_ != dtype_;
  const Op op(run_, "aten::empty");
  if (is_mixed) {
    const Setting<Category> category(run_.category, Category::communication);
    const Setting<StreamId> stream(run_.stream, kPreUnshardStream);
    run_.resize(*low_precision_shard_.impl().storage, low_precision_shard_.bytes());
    run_.stream_calls.work(kPreUnshardStream);  // the conversion
    run_.stream_calls.wait_stream(kUnshardStream, kPreUnshardStream);
  }
  run_.stream_calls.wait_for_oldest(kFreeEvents, kMaxInflightAllGathers);
  if (!is_needed) return;
  {
    const Setting<Category> category(run_.category, Category::parameters);
    const Setting<StreamId> stream(run_.stream, kUnshardStream);
    run_.resize(*full_.impl().storage, full_.bytes());
  }
  run_.stream_calls.work(kUnshardStream);  // the all-gather
  if (!is_mixed) return;
  run_.record_stream(*low_precision_shard_.impl().storage, kUnshardStream);
  release(run_, low_precision_shard_);
}

void FlatHandle::await_unshard() { run_.stream_calls.wait_stream(run_.stream, kUnshardStream); }

void FlatHandle::use_new_views() {
  Tensors views;
  for (const Piece& piece : pieces_) views.push_back(piece_of(full_, piece.sizes));
  const Setting<bool> grad(run_.grad_enabled, true);
  const Setting<StreamId> stream(run_.stream, kUnshardStream);
  record(views, {full_},
         {.name = "SplitWithSizesBackward0",
          .facts = {.a = elements_, .dtype = unsharded_dtype_},
          .backward = split_backward});
  for (std::size_t i = 0; i < pieces_.size(); ++i) pieces_[i].view = views[i];
  use_saved_views();
}

void FlatHandle::use_saved_views() {
  for (const Piece& piece : pieces_)
    if (piece.parameter) piece.parameter->tensor = piece.view;
}

/// _free_unsharded_flat_param, and the event of _reshard
void FlatHandle::free_unsharded() {
  run_.record_stream(*full_.impl().storage, run_.stream);
  release(run_, full_);
  run_.stream_calls.queue_event(kFreeEvents, run_.stream);
}

void FlatHandle::use_sharded_views() {
  for (const Piece& piece : pieces_)
    if (piece.parameter) piece.parameter->tensor = piece.sharded;
}

void FlatHandle::prepare_gradient() {
  if (sharded_grad_) saved_grad_shard_ = std::move(sharded_grad_);
}

/// _reduce_grad; the gradient as it was computed lives until all of it is over.
void FlatHandle::reduce_gradient() {
  const Setting<Category> category(run_.category, Category::communication);
  run_.stream_calls.wait_stream(kPostBackwardStream, run_.stream);
  const Setting<StreamId> stream(run_.stream, kPostBackwardStream);
  const Tensor computed = std::move(full_.grad());
  const Dtype reduce_dtype = options_.reduce_dtype.value_or(dtype_);
  Tensor unsharded = computed;
  if (unsharded.dtype() != reduce_dtype) unsharded = flat_of(run_, "aten::to", elements_, reduce_dtype);
  const Setting<Category> gradients(run_.category, Category::gradients);
  Tensor reduced = flat_of(run_, "aten::empty_like", shard_elements_, reduce_dtype);
  const Tensor low_precision = reduced;
  if (options_.has_copies) {
    run_.stream_calls.wait_stream(kReplicaAllReduceStream, kPostBackwardStream);
    run_.record_stream(*reduced.impl().storage, kReplicaAllReduceStream);
  }
  const Setting<StreamId> all_reduce_stream(run_.stream, options_.has_copies ? kReplicaAllReduceStream : run_.stream);
  if (reduce_dtype != dtype_) reduced = flat_of(run_, "aten::to", shard_elements_, dtype_);
  if (!saved_grad_shard_) saved_grad_shard_ = reduced;
  run_.record_stream(*computed.impl().storage, kPostBackwardStream);
  for (Piece& piece : pieces_) {
    piece.view.reset();
    if (piece.trains && piece.sharded.elements() > 0)
      piece.sharded.grad() = piece_of(saved_grad_shard_, piece.sharded.sizes());
  }
}

/// _wait_for_computation_stream
void FlatHandle::begin_forward(Run& run) {
  run.stream_calls.wait_stream(kUnshardStream, run.stream);
  run.stream_calls.wait_stream(kPreUnshardStream, run.stream);
}

/// Of _post_backward_final_callback.
void FlatHandle::await_reductions(Run& run, const Fsdp1Options& options) {
  run.stream_calls.wait_stream(run.stream, kPostBackwardStream);
  if (options.has_copies) run.stream_calls.wait_stream(run.stream, kReplicaAllReduceStream);
}

TensorList FlatHandle::gradients() const {
  TensorList gradients;
  for (const Piece& piece : pieces_)
    if (piece.has_gradient()) gradients.push_back(piece.sharded.grad());
  return gradients;
}

void FlatHandle::drop_gradient_if_unused() {
  if (std::ranges::none_of(pieces_, &Piece::has_gradient)) sharded_grad_.reset();
}

}  // namespace tidemark
