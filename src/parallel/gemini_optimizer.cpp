#include "parallel/gemini_optimizer.h"

#include "tensor/engine.h"

namespace tidemark {
namespace {

Tensor number(Run& run, const char* name, Dtype dtype) {
  const Op op(run, name);
  return empty(run, Dims{1}, dtype);
}

/// What lies in a chunk that is closed.
Tensor slice_of(const GeminiManager::Place& place) {
  const GeminiChunk::Range range = place.chunk->range_of(place.index);
  if (range.begin >= range.end) return {};
  return view_of(place.chunk->payload(), {Dims{range.end - range.begin}, Dims{1}});
}

}  // namespace

GeminiOptimizer::GeminiOptimizer(Run& run) : run_(run) {
  const Setting<Category> category(run.category, Category::other);
  overflow_buffer_ = number(run, "aten::to", Dtype::int32);
}

void GeminiOptimizer::wrap(const std::vector<GeminiManager::Place>& masters, const GeminiOptions& options) {
  clips_ = options.clips;
  for (const GeminiManager::Place& place : masters)
    if (Tensor slice = slice_of(place)) parameters_.push_back(std::move(slice));
  scales_ = options.precision == Dtype::f16;
  if (scales_) make_scaler();
}

/// DynamicGradScaler.__init__ and FP16MixedPrecisionMixin.__init__.  _sanity_checks compares the three, which leaves
/// nothing behind, when they are not zero: that no virtual GPU knows, and it is left out here too.
void GeminiOptimizer::make_scaler() {
  const Setting<Category> category(run_.category, Category::other);
  for (int i = 0; i < 3; ++i) scaler_.push_back(number(run_, "aten::to", Dtype::f32));
  scaler_.push_back(number(run_, "aten::zeros", Dtype::f32));
}

void GeminiOptimizer::backward(const Tensor& loss) {
  if (!scales_) return tidemark::backward(loss);
  const Tensor scaled = mul_scalar(loss);
  tidemark::backward(scaled);
}

/// The kernel updates float32 copies in place, and parameters are written over by them.
void GeminiOptimizer::step(Optimizer& inner) {
  if (clips_) {
    const Setting<Category> category(run_.category, Category::communication);
    number(run_, "aten::zeros", Dtype::f32).reset();
  }
  inner.parameters = parameters_;
  if (parameters_.empty()) return;
  const Once once(run_);
  const Setting<Category> category(run_.category, Category::optimizer_state);
  inner.state.resize(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (std::size_t moment = inner.state[i].size(); moment < 2; ++moment)
      inner.state[i].push_back(fresh("aten::zeros_like", parameters_[i]));
}

}  // namespace tidemark
