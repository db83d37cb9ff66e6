// GeminiOptimizer with HybridAdam: colossalai/zero/gemini/gemini_optimizer.py, colossalai/nn/optimizer/hybrid_adam.py,
// colossalai/amp/naive_amp (0.5.0)
#pragma once
#include "parallel/gemini_manager.h"

namespace tidemark {

class GeminiOptimizer {
 public:
  /// HybridAdam's own buffer, which is there before the model is wrapped.
  explicit GeminiOptimizer(Run& run);

  /// Wraps it: of each copy in float32, in the order of the optimizer's parameters, the range that lies on this rank.
  void wrap(const std::vector<GeminiManager::Place>& masters, const GeminiOptions& options);
  const TensorList& parameters() const { return parameters_; }

  void backward(const Tensor& loss);
  void step(Optimizer& inner);

 private:
  void make_scaler();

  Run& run_;
  bool scales_ = false, clips_ = false;
  Tensor overflow_buffer_;
  TensorList parameters_;
  TensorList scaler_;  // _scale, _min_scale and _max_scale, then found_overflow
};

}  // namespace tidemark
