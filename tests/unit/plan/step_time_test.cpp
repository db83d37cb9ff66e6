#include "plan/step_time.h"

#include <gtest/gtest.h>

#include <fstream>

#include "estimate/asked.h"
#include "estimate/program.h"
#include "io/program_text.h"
#include "plan/oracle.h"

namespace tidemark::plan {
namespace {

PassWork pass() {
  PassWork pass;
  pass.work.products[{true, 2048, 4096, 4096}] = 3000;
  pass.work.parameter_bytes = pass.work.trained_bytes = 8'000'000'000;
  pass.layers = 32;
  pass.hidden_size = 4096;
  return pass;
}

Spec spec_of(std::int64_t gpus, Parallel parallel) {
  Spec spec;
  spec.seq = 2048;
  spec.gpus = gpus;
  spec.parallel = parallel;
  return spec;
}

double seconds(const Spec& spec, const PassWork& work, const Card& on) {
  const Efficiency plain;
  return step_time(spec, work, {on, plain}).seconds;
}
double seconds(const Spec& spec) { return seconds(spec, pass(), h100_with_room()); }

TEST(StepTime, HasTheOptimizerOncePerStep) {
  Spec adam = spec_of(1, Parallel::none), sgd = adam;
  sgd.optimizer = OptimizerName::sgd;
  const double once = seconds(adam) - seconds(sgd);
  EXPECT_GT(once, 0);
  adam.grad_accumulation = sgd.grad_accumulation = 8;
  EXPECT_NEAR(seconds(adam) - seconds(sgd), once, 1e-9);
}

TEST(StepTime, OfOneKernelIsLessThanOfOneForEachOperation) {
  Spec spec = spec_of(1, Parallel::none);
  const double foreach = seconds(spec);
  spec.optimizer_impl = OptimizerImpl::fused;
  EXPECT_LT(seconds(spec), foreach);
}

TEST(StepTime, OfAPipelineHasItsBubble) {
  Spec spec = spec_of(4, Parallel::none);
  spec.pp = PipelineSpec{};
  spec.pp->degree = 4;
  spec.pp->microbatches = 4;
  const double four = seconds(spec) / 4;
  spec.pp->microbatches = 64;
  EXPECT_GT(four, 1.5 * seconds(spec) / 64);
}

TEST(StepTime, GrowsWithWhatIsSent) {
  Spec kept = spec_of(8, Parallel::fsdp2);
  kept.batch = 1;
  kept.gpus_per_node = 1;  // so that computing hides little of it
  Spec gathered = kept;
  kept.fsdp2 = Fsdp2Spec{};
  kept.fsdp2->reshard_after_forward = "false";
  EXPECT_LE(seconds(kept), seconds(gathered));
  Spec offloaded = spec_of(8, Parallel::zero2);
  const double on_card = seconds(offloaded);
  offloaded.zero = ZeroSpec{};
  offloaded.zero->offload_optimizer = Offload::cpu;
  EXPECT_GT(seconds(offloaded), on_card);
}

TEST(StepTime, IsLessByAFasterNetwork) {
  Spec spec = spec_of(64, Parallel::zero1);
  spec.gpus_per_node = 8;
  const Efficiency plain;
  const Card on = h100_with_room();
  EXPECT_LT(step_time(spec, pass(), {on, plain, 100e9}).seconds, step_time(spec, pass(), {on, plain, 10e9}).seconds);
}

/// Small matrices that 8 ranks share: what the host has to call is as much for each of them as for one alone.
TEST(StepTime, WaitsForTheHostToCallOperationsAndCollectives) {
  PassWork small = pass();
  small.work.products = {{{true, 256, 1024, 1024}, 300}};
  small.work.operations = 2000;
  small.work.forward_operations = 1000;
  Spec spec = spec_of(8, Parallel::none);
  spec.tp = TpSpec{};
  spec.tp->degree = 8;
  Efficiency reached;
  const Card on = h100_with_room();
  const double waits_for_none = step_time(spec, small, {on, reached}).seconds;
  reached.seconds_per_operation = 2e-5;
  const double for_operations = step_time(spec, small, {on, reached}).seconds;
  reached.seconds_per_collective = 1e-4;
  const double for_both = step_time(spec, small, {on, reached}).seconds;
  EXPECT_GT(for_operations, waits_for_none);
  EXPECT_NEAR(for_both - for_operations, 4 * 32 * 1e-4, 1e-9);  // two for each layer and pass
}

/// Ranks that share sequences too have a part of norms and sums; the others each have all of them.
TEST(StepTime, OfSharedMatricesHasWhatEachRankDoesAlike) {
  Spec spec = spec_of(8, Parallel::none);
  spec.tp = TpSpec{};
  spec.tp->degree = 8;
  const double alike = seconds(spec);
  spec.tp->sequence_parallel = true;
  const double hidden_bytes = 2.0 * 2048 * 4096, traffic = 4 * (2 + 3);
  EXPECT_NEAR(alike - seconds(spec), 7.0 / 8 * 32 * traffic * hidden_bytes / 3.35232e12, 1e-9);
}

TEST(StepTime, IsLessWhereEachRankSendsAPartToTheNextStage) {
  Spec spec = spec_of(16, Parallel::none);
  spec.gpus_per_node = 8;
  spec.tp = TpSpec{};
  spec.tp->degree = 8;
  spec.pp = PipelineSpec{};
  spec.pp->degree = 2;
  spec.batch = spec.pp->microbatches = 16;
  const Efficiency plain;
  const Card on = h100_with_room();
  EXPECT_LT(step_time(spec, pass(), {on, plain, 0, true}).seconds, step_time(spec, pass(), {on, plain}).seconds);
}

/// All gradients in one bucket are there when the backward pass is over.
TEST(StepTime, HidesNothingOfOneBucket) {
  Spec spec = spec_of(8, Parallel::ddp);
  spec.batch = 64;
  const double many = seconds(spec);
  spec.ddp = DdpSpec{};
  spec.ddp->bucket_cap_mb = 1e6;
  EXPECT_GT(seconds(spec) - many, 0.9 * 2 * 7.0 / 8 * 8e9 / 450e9);
}

TEST(StepTime, IsMoreWhereComputingIsSlowerBesideCollectives) {
  const Spec spec = spec_of(8, Parallel::fsdp1);
  Efficiency reached;
  const Card on = h100_with_room();
  const double alone = step_time(spec, pass(), {on, reached}).seconds;
  reached.beside_collectives = 0.6;
  EXPECT_GT(step_time(spec, pass(), {on, reached}).seconds, alone);
}

/// A forward pass that waits for the host does not make up for it while the backward pass fills the card.
TEST(StepTime, HasForwardAndBackwardPassesThatEachWaitForTheHost) {
  PassWork work = pass();
  work.work.flops = 2.0 * 2048 * 4096 * 4096 * 3000;
  work.work.forward_flops = work.work.flops / 3;
  const Spec spec = spec_of(1, Parallel::none);
  const double on_card = seconds(spec, work, h100_with_room());
  Efficiency reached;
  const Card on = h100_with_room();
  reached.seconds_per_operation = 1e-5;
  const double products = work.work.flops / 989.4e12;
  work.work.operations = work.work.forward_operations = static_cast<std::int64_t>(products / 2 / 1e-5);
  EXPECT_NEAR(step_time(spec, work, {on, reached}).seconds - on_card, products * (1.0 / 2 - 1.0 / 3), 1e-4);
}

Spec mixed(Spec spec) {
  spec.dtype = WeightDtype::fp32;
  spec.fsdp1 = Fsdp1Spec{};
  spec.fsdp1->param_dtype = PolicyDtype::bf16;
  spec.fsdp1->reduce_dtype = PolicyDtype::fp32;
  return spec;
}

/// Weights are gathered in bf16; gradients are reduced in float32, and an optimizer of float32 moves twice the bytes.
TEST(StepTime, OfMixedPrecisionReducesAndUpdatesMore) {
  const Spec half = spec_of(8, Parallel::fsdp1), both = mixed(half);
  EXPECT_EQ(computed_dtype(both), WeightDtype::bf16);
  EXPECT_EQ(computed_dtype(half), half.dtype);
  EXPECT_GT(seconds(both), seconds(half) + 20 * 8e9 / 8 / 3.35232e12);
}

/// Each rank adds up its own shards, where gradients are reduced in every pass.
TEST(StepTime, AddsUpShardsOfGradients) {
  const auto added = [](Parallel parallel) {
    Spec spec = spec_of(8, parallel);
    if (parallel == Parallel::ddp) spec.ddp = DdpSpec{};
    if (parallel == Parallel::ddp) spec.ddp->no_sync = true;
    const double once = seconds(spec);
    spec.grad_accumulation = 2;
    return seconds(spec) - once;
  };
  const double whole = 3 * 8e9 / 3.35232e12;
  EXPECT_GT(added(Parallel::ddp), whole);
  Spec alone = spec_of(1, Parallel::none);
  const double pass_alone = seconds(alone);
  alone.grad_accumulation = 2;
  EXPECT_NEAR(added(Parallel::ddp), seconds(alone) - pass_alone, 1e-9);
}

TEST(StepTime, OfFsdp2HasItsCopies) {
  EXPECT_GT(seconds(spec_of(8, Parallel::fsdp2)), seconds(spec_of(8, Parallel::fsdp1)));
}

TEST(StepTime, HasTheBandOfItsCard) {
  Efficiency reached;
  reached.band = {0.9, 1.3};
  const Card on = h100_with_room();
  const StepTime time = step_time(spec_of(1, Parallel::none), pass(), {on, reached});
  EXPECT_DOUBLE_EQ(time.low_seconds, 0.9 * time.seconds);
  EXPECT_DOUBLE_EQ(time.high_seconds, 1.3 * time.seconds);
  EXPECT_TRUE(time.of_cards_in_general);
}

Engine gpt_neo() {
  const Value config =
      Value::Map{{"model_type", "gpt_neo"}, {"num_layers", 24}, {"hidden_size", 768}, {"num_heads", 12}};
  std::ifstream file(TIDEMARK_SOURCE_DIR "/data/programs/5.17.0/gpt_neo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return {.model_config = config,
          .card = h100_with_room(),
          .programs =
              [config, text](const Spec& spec) {
                std::vector<Program> programs;
                programs.push_back(io::read_family_text(text, "gpt_neo", config, family_use_of(spec, config)));
                return std::make_shared<const std::vector<Program>>(std::move(programs));
              },
          .keep_margin = {}};
}

/// What AdamW makes in the first step is no part of a pass.
TEST(StepTime, OfACandidateDoesNotHaveTheOptimizerInEveryPass) {
  const Engine engine = gpt_neo();
  const Oracle oracle = make_oracle(engine);
  Spec adam = spec_of(1, Parallel::none), sgd = adam;
  adam.seq = sgd.seq = 16;
  sgd.optimizer = OptimizerName::sgd;
  const double once = oracle.time(adam).seconds - oracle.time(sgd).seconds;
  adam.grad_accumulation = sgd.grad_accumulation = 64;
  EXPECT_NEAR(oracle.time(adam).seconds - oracle.time(sgd).seconds, once, 1e-9);
}

/// Its configuration has other names for its sizes.
TEST(StepTime, IsOfAsManyLayersAsThereAre) {
  const Engine engine = gpt_neo();
  Spec spec = spec_of(1, Parallel::none);
  spec.seq = 16;
  const PassWork work = work_of_pass(engine, spec);
  EXPECT_EQ(work.layers, 24);
  EXPECT_EQ(work.hidden_size, 768);
}

TEST(StepTime, OfSharedMatricesHasWhatIsSent) {
  const Engine engine = gpt_neo();
  const Oracle oracle = make_oracle(engine);
  Spec alone = spec_of(1, Parallel::none), shared = spec_of(2, Parallel::none);
  alone.seq = shared.seq = 1024;
  alone.batch = shared.batch = 64;
  shared.tp = TpSpec{};
  shared.tp->degree = 2;
  EXPECT_GT(2 * oracle.time(shared).seconds, 1.01 * oracle.time(alone).seconds);
}

}  // namespace
}  // namespace tidemark::plan
