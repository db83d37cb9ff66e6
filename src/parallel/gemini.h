// Colossal-AI's Gemini, ZeRO-3 by chunks: GeminiDDP and GeminiOptimizer as GeminiPlugin makes them, with HybridAdam,
// and static placement on the card alone.  colossalai/zero/gemini (0.5.0 at 4f9953b)
#pragma once
#include "nn/module.h"
#include "parallel/gemini_search.h"
#include "train/hooks.h"

namespace tidemark {

/// Named after the arguments of GeminiPlugin.
struct GeminiOptions {
  std::int64_t ranks = 1, rank = 0, grad_accumulation = 1;
  Dtype precision = Dtype::f16;
  double shard_param_frac = 1;
  ChunkSearch search = {};
  bool enable_gradient_accumulation = false, enable_async_reduce = true;
  bool clips = false;  // max_norm is not 0
};

StepHooks gemini(Run& run, Module& root, const GeminiOptions& options);

}  // namespace tidemark
