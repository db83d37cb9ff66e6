#include <gtest/gtest.h>

#include "estimate/asked.h"

namespace tidemark {
namespace {

constexpr std::int64_t kTokens = 64, kFeatures = 128;

Value::Map llama() {
  return {{"model_type", "llama"},    {"hidden_size", kFeatures}, {"intermediate_size", 344}, {"num_hidden_layers", 4},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"vocab_size", 1024}};
}

/// Micro-batches of one sample each.
Spec spec_of(std::int64_t degree, PipelineSchedule schedule, std::int64_t microbatches, std::int64_t rank = 0) {
  Spec spec;
  spec.model = llama();
  spec.seq = kTokens;
  spec.batch = microbatches;
  spec.gpus = degree;
  spec.rank = rank;
  spec.pp = PipelineSpec{.degree = degree, .schedule = schedule, .microbatches = microbatches, .layers = {}};
  return spec;
}

TEST(Pipeline, MoreMicrobatchesTakeTheirBuffersAlone) {
  using enum PipelineSchedule;
  constexpr std::int64_t kMore = 8;
  constexpr std::int64_t kBuffer = kTokens * kFeatures * 2;  // the gradient that comes back, in bf16
  constexpr std::int64_t kSample = 2 * kTokens * 8;          // its tokens and its mask
  const std::int64_t few = peak_bytes(spec_of(4, one_f_one_b, 8)),
                     more = peak_bytes(spec_of(4, one_f_one_b, 8 + kMore));
  EXPECT_EQ(more - few, kMore * (kBuffer + kSample));
  const std::int64_t all = peak_bytes(spec_of(4, gpipe, 8 + kMore)) - peak_bytes(spec_of(4, gpipe, 8));
  EXPECT_GT(all, 4 * (more - few));
}

TEST(Pipeline, ScheduleDoesNotMatterToOneMicrobatch) {
  using enum PipelineSchedule;
  const std::int64_t bytes = peak_bytes(spec_of(1, gpipe, 1));
  for (const PipelineSchedule schedule : {one_f_one_b, interleaved_1f1b, looped_bfs})
    EXPECT_EQ(peak_bytes(spec_of(1, schedule, 1)), bytes);
}

TEST(Pipeline, LastStageHoldsOutputsOnlyWhenTheyAreReturned) {
  Spec spec = spec_of(2, PipelineSchedule::one_f_one_b, 16, 1);
  const std::int64_t with_outputs = peak_bytes(spec);
  spec.pp->return_outputs = false;
  constexpr std::int64_t kLogits = kTokens * 1024 * 2;
  EXPECT_GE(with_outputs - peak_bytes(spec), 14 * kLogits);
}

TEST(Pipeline, RefusesWhatItDoesNotKnow) {
  const Spec good = spec_of(2, PipelineSchedule::one_f_one_b, 4);
  EXPECT_EQ(refused(good), "nothing");
  Spec bad = good;
  bad.autocast = Autocast::bf16;
  EXPECT_EQ(refused(bad), "autocast");
  bad = good;
  bad.grad_scaler = true;
  EXPECT_EQ(refused(bad), "grad_scaler");
  bad = good;
  bad.zero_grad = ZeroGrad::before_backward;
  EXPECT_EQ(refused(bad), "zero_grad");
  bad = good;
  bad.pp->layers = {1, 2};
  EXPECT_EQ(refused(bad), "pp.layers");
  bad = good;
  bad.model.set("tie_word_embeddings", true);
  EXPECT_EQ(refused(bad), "pp");
  bad = good;
  bad.model = Value::Map{{"model_type", "gpt2"}, {"n_embd", 64}, {"n_layer", 2}, {"n_head", 4}};
  EXPECT_EQ(refused(bad), "pp");
}

TEST(Pipeline, RefusesWhatTheSchedulesRefuse) {
  Spec bad = spec_of(4, PipelineSchedule::one_f_one_b, 2);
  EXPECT_EQ(refused(bad), "pp.microbatches");  // fewer than stages
  bad = spec_of(2, PipelineSchedule::gpipe, 4);
  bad.batch = 6;
  EXPECT_EQ(refused(bad), "pp.microbatches");  // micro-batches that differ
  bad = spec_of(2, PipelineSchedule::interleaved_1f1b, 5);
  EXPECT_EQ(refused(bad), "pp.microbatches");  // 2 rounds
  bad = spec_of(2, PipelineSchedule::gpipe, 4);
  bad.pp->stages_per_rank = 2;
  EXPECT_EQ(refused(bad), "pp.stages_per_rank");
  bad = spec_of(2, PipelineSchedule::gpipe, 4);
  bad.pp->layers = {4};
  EXPECT_EQ(refused(bad), "pp.layers");
  bad.gpus = 3;
  EXPECT_EQ(refused(bad), "pp.degree");
}

}  // namespace
}  // namespace tidemark
