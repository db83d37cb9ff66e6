#include "parallel/gemini_manager.h"

#include <algorithm>

#include "base/error.h"
#include "parallel/gradient_norm.h"
#include "parallel/partition.h"

namespace tidemark {
namespace {

std::vector<GeminiChunk*> chunks_of(const std::vector<GeminiManager::Place>& places) {
  std::vector<GeminiChunk*> chunks;
  for (const GeminiManager::Place& place : places)
    if (std::find(chunks.begin(), chunks.end(), place.chunk) == chunks.end()) chunks.push_back(place.chunk);
  return chunks;
}

}  // namespace

GeminiManager::GeminiManager(Run& run, const GeminiOptions& options, const ChunkSize& chunk_size)
    : run_(run), options_(options), chunk_size_(chunk_size) {}

GeminiManager::Place GeminiManager::add(Group& group, Tensor tensor, const Dims& sizes, Dtype dtype) {
  const std::int64_t elements = elements_of(sizes);
  if (group.empty() || !group.back().has_room_for(elements)) {
    if (!group.empty()) group.back().close();
    const std::int64_t size = std::max(chunk_size_.elements, padded(elements, options_.ranks));
    group.emplace_back(run_, next_id_++,
                       ChunkShape{elements > chunk_size_.elements ? size : chunk_size_.elements, options_.ranks,
                                  options_.rank, dtype, chunk_size_.keep_gathered});
  }
  return {&group.back(), group.back().append(std::move(tensor), sizes)};
}

GeminiManager::Place GeminiManager::add_parameter(const Tensor& parameter) {
  return places_[&parameter.impl()] = add(parameters_, parameter, parameter.sizes(), parameter.dtype());
}

GeminiManager::Place GeminiManager::add_master(Tensor copy) {
  const Dims sizes = copy.sizes();
  const Setting<Category> category(run_.category, Category::optimizer_state);
  return add(masters_, std::move(copy), sizes, Dtype::f32);
}

void GeminiManager::close_all() {
  for (Group* group : {&parameters_, &masters_})
    if (!group->empty()) group->back().close();
  std::int64_t total = 0;  // of each chunk as often as it has parameters
  for (const GeminiChunk& chunk : parameters_)
    total += chunk.bytes() * static_cast<std::int64_t>(chunk.tensors().size());
  keep_gathered_bytes_ = static_cast<double>(total) * (1 - options_.shard_param_frac);
}

const GeminiManager::Place* GeminiManager::find(const Tensor& tensor) const {
  const auto found = places_.find(&tensor.impl());
  return found == places_.end() ? nullptr : &found->second;
}

void GeminiManager::access(GeminiChunk& chunk) {
  if (accessed_.insert(&chunk).second) chunk.access();
}

void GeminiManager::release(GeminiChunk& chunk) {
  if (!accessed_.contains(&chunk) || !chunk.can_release()) return;
  chunk.release();
  accessed_.erase(&chunk);
}

void GeminiManager::before_operation(const std::vector<Place>& parameters) {
  // A checkpoint counts operations, in which this is none.
  const AsideOfOperations hook(run_);
  const Chunks chunks = chunks_of(parameters);
  for (const Place& place : parameters) place.chunk->set_state(place.index, ChunkTensorState::compute);
  ++operation_;
  evict(can_evict(chunks));
  for (GeminiChunk* chunk : chunks) access(*chunk);
}

const GeminiManager::Chunks& GeminiManager::can_evict(const Chunks& chunks) {
  const auto [entry, is_new] = layouts_.try_emplace({operation_, passes_ == 0, chunks});
  if (is_new)
    std::copy_if(accessed_.begin(), accessed_.end(), std::back_inserter(entry->second),
                 [](const GeminiChunk* chunk) { return chunk->can_release(); });
  return entry->second;
}

/// StaticPlacementPolicy.evict_tensors
void GeminiManager::evict(const Chunks& chunks) {
  std::int64_t bytes = 0;
  for (const GeminiChunk* chunk : chunks) bytes += chunk->bytes();
  for (GeminiChunk* chunk : chunks) {
    if (static_cast<double>(bytes) <= keep_gathered_bytes_) break;
    release(*chunk);
    bytes -= chunk->bytes();
  }
}

void GeminiManager::after_operation(const std::vector<Place>& parameters) {
  for (const Place& place : parameters)
    place.chunk->set_state(place.index, in_backward_ ? ChunkTensorState::hold_after_bwd : ChunkTensorState::hold);
}

GeminiChunk& GeminiManager::chunk_for_gradient(GeminiChunk& chunk) {
  if (reuses_chunks()) return chunk;
  if (!accumulating_) {
    GeminiChunk& gradients = chunk.init_grad_chunk(next_id_);
    accessed_.insert(&gradients);
    return gradients;
  }
  GeminiChunk& gradients = *chunk.grad_chunk();
  if (accessed_.insert(&gradients).second) gradients.take_up_again();
  return gradients;
}

void GeminiManager::take_gradient(const Place& place, const Tensor& gradient) {
  {
    const Op op(run_, "aten::empty_like");
    empty_like(gradient).reset();
  }
  GeminiChunk& chunk = *place.chunk;
  GeminiChunk& gradients = chunk_for_gradient(chunk);
  if (&gradients != &chunk) {
    for (const ChunkTensorState state : {ChunkTensorState::compute, ChunkTensorState::hold_after_bwd})
      gradients.set_state(place.index, state);
    for (const ChunkTensorState state : {ChunkTensorState::ready_for_reduce, ChunkTensorState::hold})
      chunk.set_state(place.index, state);
  }
  gradients.set_state(place.index, ChunkTensorState::ready_for_reduce);
  if (gradients.can_reduce()) reduce(chunk, gradients);
}

void GeminiManager::reduce(GeminiChunk& chunk, GeminiChunk& gradients) {
  const Setting<StreamId> stream(run_.stream, options_.enable_async_reduce ? kGeminiReduceStream : run_.stream);
  gradients.reduce();
  accessed_.erase(&gradients);
  if (&gradients != &chunk) {
    if (chunk.is_kept_gathered())
      accessed_.erase(&chunk);  // fake_release_chunk
    else
      release(chunk);
  }
  const Setting<Category> category(run_.category, Category::workspace);
  const Tensor valid = gradients.valid();
  count_overflow(valid);
  if (options_.clips) chunk_l2_norm(valid);
}

void GeminiManager::end_backward() {
  if (!accessed_.empty())
    throw Error(Errc::unsupported, "a parameter got no gradient, at which Gemini raises an error", "parallel");
  in_backward_ = false;
  accumulating_ = options_.enable_gradient_accumulation;
  operation_ = -1;
  ++passes_;
}

}  // namespace tidemark
