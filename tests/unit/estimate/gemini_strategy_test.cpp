#include <gtest/gtest.h>

#include "estimate/asked.h"

namespace tidemark {
namespace {

Spec spec_of_gemini(std::int64_t gpus) {
  Spec spec;
  spec.model = Value::Map{{"model_type", "llama"},  {"hidden_size", 256},       {"intermediate_size", 512},
                          {"num_hidden_layers", 4}, {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                          {"vocab_size", 4096}};
  spec.seq = 64;
  spec.batch = 2;
  spec.gpus = gpus;
  spec.parallel = Parallel::gemini;
  spec.gemini = GeminiSpec{};
  spec.gemini->min_chunk_size_m = 0.5;
  spec.gemini->search_range_m = 0.5;
  return spec;
}

TEST(GeminiStrategy, TakesALoopOfColossalAi) { EXPECT_EQ(refused(spec_of_gemini(2)), "nothing"); }

struct Refusal {
  const char* field;
  void (*change)(Spec& spec);
};

class GeminiRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(GeminiRefuses, WhatIsNotKnown) {
  Spec spec = spec_of_gemini(2);
  GetParam().change(spec);
  EXPECT_EQ(refused(spec), GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, GeminiRefuses,
    testing::Values(
        Refusal{"gemini.placement_policy", [](Spec& s) { s.gemini->placement_policy = PlacementPolicy::automatic; }},
        Refusal{"gemini.offload_optim_frac", [](Spec& s) { s.gemini->offload_optim_frac = 0.5; }},
        Refusal{"gemini.offload_param_frac", [](Spec& s) { s.gemini->offload_param_frac = 1; }},
        Refusal{"gemini.max_prefetch", [](Spec& s) { s.gemini->max_prefetch = 1; }},
        Refusal{"gemini.master_weights", [](Spec& s) { s.gemini->master_weights = false; }},
        Refusal{"grad_accumulation", [](Spec& s) { s.grad_accumulation = 2; }},
        Refusal{"steps", [](Spec& s) { s.steps = 1000; }},
        Refusal{"autocast", [](Spec& s) { s.autocast = Autocast::bf16; }},
        Refusal{"grad_scaler", [](Spec& s) { s.autocast = Autocast::none, s.grad_scaler = true; }},
        Refusal{"zero_grad", [](Spec& s) { s.zero_grad = ZeroGrad::before_forward; }},
        Refusal{"set_to_none", [](Spec& s) { s.set_to_none = false; }},
        Refusal{"optimizer", [](Spec& s) { s.optimizer = OptimizerName::sgd; }},
        Refusal{"optimizer_impl", [](Spec& s) { s.optimizer_impl = OptimizerImpl::foreach; }},
        Refusal{"amsgrad", [](Spec& s) { s.amsgrad = true; }}, Refusal{"maximize", [](Spec& s) { s.maximize = true; }},
        Refusal{"lora", [](Spec& s) { s.lora = LoraSpec{}; }}, Refusal{"cp", [](Spec& s) { s.cp = CpSpec{}; }},
        Refusal{"gemini", [](Spec& s) { s.parallel = Parallel::ddp; }},
        Refusal{"parallel", [](Spec& s) {
                  s.model = Value::Map{{"model_type", "qwen2"},  {"hidden_size", 256},       {"intermediate_size", 512},
                                       {"num_hidden_layers", 1}, {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                                       {"vocab_size", 4096}};
                }}));

TEST(GeminiStrategy, NeverHoldsLessWhenItKeepsMore) {
  std::int64_t last = 0;
  for (const double shard_param_frac : {1.0, 0.97, 0.9, 0.5, 0.0}) {
    Spec spec = spec_of_gemini(4);
    spec.gemini->shard_param_frac = shard_param_frac;
    const std::int64_t peak = peak_bytes(spec);
    EXPECT_GE(peak, last) << shard_param_frac;
    last = peak;
  }
}

TEST(GeminiStrategy, HoldsLessWithMoreGpus) {
  std::int64_t last = INT64_MAX;
  for (const std::int64_t gpus : {1, 2, 4, 8}) {
    const std::int64_t between_steps = predicted(spec_of_gemini(gpus)).steps.back().end_allocated_bytes;
    EXPECT_LT(between_steps, last) << gpus;
    last = between_steps;
  }
}

}  // namespace
}  // namespace tidemark
