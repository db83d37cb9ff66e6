#include "parallel/gemini_chunk.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

/// STATE_TRANS
bool may_follow(ChunkTensorState from, ChunkTensorState to) {
  using enum ChunkTensorState;
  switch (from) {
    case hold: return to == compute;
    case compute: return to == hold || to == hold_after_bwd;
    case hold_after_bwd: return to == compute || to == ready_for_reduce;
    case ready_for_reduce: return to == hold;
  }
  return false;
}

}  // namespace

GeminiChunk::GeminiChunk(Run& run, std::int64_t id, const ChunkShape& shape) : run_(run), id_(id), shape_(shape) {
  category_ = run.category;
  whole_ = buffer("aten::zeros", shape.elements);
}

Tensor GeminiChunk::buffer(const char* name, std::int64_t elements) const {
  const Setting<Category> category(run_.category, category_);
  const Op op(run_, name);
  return empty(run_, Dims{elements}, shape_.dtype);
}

/// __update_tensors_ptr, of one
void GeminiChunk::show(const ChunkTensor& tensor) const {
  if (!tensor.parameter) return;
  TensorImpl& impl = tensor.parameter.impl();
  impl.storage = whole_.impl().storage;
  impl.layout = {tensor.sizes, contiguous_strides(tensor.sizes)};
}

std::size_t GeminiChunk::append(Tensor parameter, const Dims& sizes) {
  const std::int64_t elements = elements_of(sizes);
  TM_CHECK(has_room_for(elements), "a tensor does not fit into its chunk");
  tensors_.push_back({std::move(parameter), sizes, utilized_, elements});
  show(tensors_.back());
  ++counts_[static_cast<std::size_t>(ChunkTensorState::hold)];
  utilized_ += elements;
  return tensors_.size() - 1;
}

void GeminiChunk::close() { scatter(); }

void GeminiChunk::gather() {
  if (gathered_) return;
  const Op op(run_, "aten::resize_");
  const Setting<Category> category(run_.category, category_);
  run_.resize(*whole_.impl().storage, bytes());
  shard_.reset();
  gathered_ = true;
}

void GeminiChunk::scatter() {
  if (!gathered_ || shape_.keep_gathered) return;
  shard_ = buffer("aten::empty", shard_elements());
  run_.resize(*whole_.impl().storage, 0);
  gathered_ = false;
}

void GeminiChunk::reduce() {
  TM_CHECK(gathered_, "gradients are reduced that are not there");
  scatter();
  for (ChunkTensor& tensor : tensors_) tensor.state = ChunkTensorState::hold;
  counts_ = {tensors_.size()};
}

GeminiChunk& GeminiChunk::init_grad_chunk(std::int64_t& next_id) {
  if (!grad_chunk_) {
    const Setting<Category> category(run_.category, Category::gradients);
    grad_chunk_ = std::make_unique<GeminiChunk>(run_, next_id++, shape_);
    grad_chunk_->utilized_ = utilized_;
    for (const ChunkTensor& tensor : tensors_)
      grad_chunk_->tensors_.push_back({{}, tensor.sizes, tensor.offset, tensor.elements});
    grad_chunk_->counts_ = {tensors_.size()};
  } else {
    grad_chunk_->shard_.reset();
    grad_chunk_->gather();
  }
  return *grad_chunk_;
}

void GeminiChunk::take_up_again() {
  const Tensor accumulated = [this] {
    const Op op(run_, "aten::clone");
    return empty_like(payload());
  }();
  shard_.reset();
  gather();
}

void GeminiChunk::set_state(std::size_t tensor, ChunkTensorState to) {
  ChunkTensorState& state = tensors_[tensor].state;
  if (!may_follow(state, to)) return;
  --counts_[static_cast<std::size_t>(state)];
  state = to;
  ++counts_[static_cast<std::size_t>(state)];
}

Tensor GeminiChunk::valid() const {
  std::int64_t elements = utilized_;
  if (!gathered_) elements = std::clamp<std::int64_t>(utilized_ - shard_elements() * shape_.rank, 0, shard_elements());
  return view_of(payload(), {Dims{elements}, Dims{1}});
}

GeminiChunk::Range GeminiChunk::range_of(std::size_t tensor) const {
  const ChunkTensor& of = tensors_[tensor];
  if (shape_.keep_gathered) return {of.offset, of.offset + of.elements};
  const std::int64_t shard_begin = shard_elements() * shape_.rank;
  return {std::max<std::int64_t>(0, of.offset - shard_begin),
          std::min(shard_elements(), of.offset + of.elements - shard_begin)};
}

}  // namespace tidemark
