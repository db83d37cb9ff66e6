#include <gtest/gtest.h>

#include "estimate/asked.h"

namespace tidemark {
namespace {

constexpr std::int64_t kTokens = 64, kFeatures = 128;

Value::Map config_of_llama() {
  return {{"model_type", "llama"},    {"hidden_size", kFeatures}, {"intermediate_size", 344}, {"num_hidden_layers", 4},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"vocab_size", 1024}};
}

/// Micro-batches of one sample each.
Spec spec_of_pipeline(std::int64_t degree, PipelineSchedule schedule, std::int64_t microbatches,
                      std::int64_t rank = 0) {
  Spec spec;
  spec.model = config_of_llama();
  spec.seq = kTokens;
  spec.batch = microbatches;
  spec.gpus = degree;
  spec.rank = rank;
  spec.pp = PipelineSpec{.degree = degree, .schedule = schedule, .microbatches = microbatches, .layers = {}};
  return spec;
}

TEST(Pipeline, MoreMicrobatchesTakeTheirBuffersAloneWhereTheyAreKept) {
  using enum PipelineSchedule;
  constexpr std::int64_t kMore = 8;
  constexpr std::int64_t kBuffer = kTokens * kFeatures * 2;  // the gradient that comes back, in bf16
  constexpr std::int64_t kSample = 2 * kTokens * 8;          // its tokens and its mask
  const auto by_more = [](PipelineSchedule schedule, const char* torch) {
    Spec few = spec_of_pipeline(4, schedule, 8), more = spec_of_pipeline(4, schedule, 8 + kMore);
    few.torch = more.torch = torch;
    return peak_bytes(more) - peak_bytes(few);
  };
  EXPECT_EQ(by_more(one_f_one_b, "2.11.0"), kMore * (kBuffer + kSample));
  EXPECT_EQ(by_more(one_f_one_b, "2.15.0"), kMore * kSample);  // what is received lives as long as its micro-batch
  EXPECT_GT(by_more(gpipe, "2.11.0"), 4 * by_more(one_f_one_b, "2.11.0"));
}

TEST(Pipeline, ScheduleDoesNotMatterToOneMicrobatch) {
  using enum PipelineSchedule;
  const std::int64_t bytes = peak_bytes(spec_of_pipeline(1, gpipe, 1));
  for (const PipelineSchedule schedule : {one_f_one_b, interleaved_1f1b, looped_bfs})
    EXPECT_EQ(peak_bytes(spec_of_pipeline(1, schedule, 1)), bytes);
}

TEST(Pipeline, LastStageHoldsOutputsOnlyWhenTheyAreReturned) {
  Spec spec = spec_of_pipeline(2, PipelineSchedule::one_f_one_b, 16, 1);
  const std::int64_t with_outputs = peak_bytes(spec);
  spec.pp->return_outputs = false;
  constexpr std::int64_t kLogits = kTokens * 1024 * 2;
  EXPECT_GE(with_outputs - peak_bytes(spec), 14 * kLogits);
}

TEST(Pipeline, RefusesWhatItDoesNotKnow) {
  const Spec good = spec_of_pipeline(2, PipelineSchedule::one_f_one_b, 4);
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
  bad.model = Value::Map{{"model_type", "bart"}};
  EXPECT_EQ(refused(bad), "pp");
}

TEST(Pipeline, RefusesWhereStagesThatMeasureThemselvesFail) {
  Spec spec = spec_of_pipeline(2, PipelineSchedule::one_f_one_b, 4);
  spec.checkpointing = Checkpointing::reentrant;
  for (const auto& [torch, field] : {std::pair{"2.11.0", "nothing"}, {"2.12.1", "checkpointing"}}) {
    spec.torch = torch;
    EXPECT_EQ(refused(spec), field) << torch;
  }
  spec = spec_of_pipeline(2, PipelineSchedule::gpipe, 4);  // all forward passes come first
  spec.gpus = 4;
  spec.parallel = Parallel::ddp;
  for (const auto& [torch, field] : {std::pair{"2.11.0", "nothing"}, {"2.15.0", "pp"}}) {
    spec.torch = torch;
    EXPECT_EQ(refused(spec), field) << torch;
  }
}

TEST(Pipeline, RefusesWhatTheSchedulesRefuse) {
  Spec bad = spec_of_pipeline(4, PipelineSchedule::one_f_one_b, 2);
  EXPECT_EQ(refused(bad), "pp.microbatches");  // fewer than stages
  bad = spec_of_pipeline(2, PipelineSchedule::gpipe, 4);
  bad.batch = 6;
  EXPECT_EQ(refused(bad), "pp.microbatches");  // micro-batches that differ
  bad = spec_of_pipeline(2, PipelineSchedule::interleaved_1f1b, 5);
  EXPECT_EQ(refused(bad), "pp.microbatches");  // 2 rounds
  bad = spec_of_pipeline(2, PipelineSchedule::gpipe, 4);
  bad.pp->stages_per_rank = 2;
  EXPECT_EQ(refused(bad), "pp.stages_per_rank");
  bad = spec_of_pipeline(2, PipelineSchedule::gpipe, 4);
  bad.pp->layers = {4};
  EXPECT_EQ(refused(bad), "pp.layers");
  bad.gpus = 3;
  EXPECT_EQ(refused(bad), "pp.degree");
}

}  // namespace
}  // namespace tidemark
