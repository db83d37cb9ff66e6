#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "estimate/asked.h"
#include "estimate/strategies.h"

namespace tidemark {
namespace {

/// Sizes that every product of small degrees divides.
Spec spec_of_product(std::int64_t gpus, Parallel parallel = Parallel::fsdp2) {
  Spec spec;
  spec.model = Value::Map{{"model_type", "llama"},  {"hidden_size", 256},       {"intermediate_size", 512},
                          {"num_hidden_layers", 4}, {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                          {"vocab_size", 4096}};
  spec.seq = 64;
  spec.batch = 8;
  spec.gpus = gpus;
  spec.parallel = parallel;
  return spec;
}

Value full_plan() {
  Value::Map plan;
  for (const char* name : {"q_proj", "k_proj", "v_proj"})
    plan.push_back({std::string("model.layers.*.self_attn.") + name, "colwise"});
  plan.push_back({"model.layers.*.self_attn.o_proj", "rowwise"});
  for (const char* name : {"gate_proj", "up_proj"})
    plan.push_back({std::string("model.layers.*.mlp.") + name, "colwise"});
  plan.push_back({"model.layers.*.mlp.down_proj", "rowwise"});
  plan.push_back({"model.embed_tokens", "rowwise"});
  plan.push_back({"lm_head", "colwise"});
  return plan;
}

TpSpec split_by(std::int64_t degree) { return {.degree = degree, .plan = full_plan()}; }

Fsdp2Spec copies(std::int64_t degree) {
  Fsdp2Spec options;
  options.data_parallel_replicate_degree = degree;
  return options;
}

PipelineSpec stages(std::int64_t degree) { return {.degree = degree, .microbatches = 4, .layers = {}}; }

/// Parameters and AdamW's states: what is there between two steps.
std::int64_t persistent_bytes(const Spec& spec) { return predicted(spec).steps.back().end_allocated_bytes; }

// torchtitan: pp, dp_replicate, dp_shard, tp; the last varies fastest.
TEST(Products, RanksAreLaidAsInTorchtitan) {
  Spec spec = spec_of_product(2 * 3 * 5 * 7);
  spec.pp = stages(2);
  spec.fsdp2 = copies(3);
  spec.tp = split_by(7);
  spec.rank = ((1 * 3 + 2) * 5 + 3) * 7 + 4;
  const MeshPlace place = place_of(spec);
  EXPECT_EQ(place.shards, 5);
  EXPECT_EQ(std::tie(place.stage, place.copy, place.shard, place.part), std::make_tuple(1, 2, 3, 4));
}

TEST(Products, NoTwoRanksHaveOnePlace) {
  Spec spec = spec_of_product(24);
  spec.pp = stages(2);
  spec.fsdp2 = copies(2);
  spec.tp = split_by(3);
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> places;
  for (spec.rank = 0; spec.rank < spec.gpus; ++spec.rank) {
    const MeshPlace place = place_of(spec);
    places.insert({place.stage, place.copy, place.shard, place.part});
  }
  EXPECT_EQ(places.size(), 24u);
}

TEST(Products, PartsOfShardsArePersistentlySmaller) {
  const std::int64_t shards = persistent_bytes(spec_of_product(4));
  Spec both = spec_of_product(8);
  both.tp = split_by(2);
  const std::int64_t parts = persistent_bytes(both);
  EXPECT_LT(parts, shards);
  // Norms, which are in no plan, and what no number of GPUs divides: rotary frequencies and workspaces.
  EXPECT_EQ(parts, persistent_bytes([&] {
              Spec four = both;
              four.rank = 7;
              return four;
            }()));
}

TEST(Products, CopiesHoldWhatTheirShardsHold) {
  Spec spec = spec_of_product(8);
  spec.fsdp2 = copies(2);
  EXPECT_EQ(persistent_bytes(spec), persistent_bytes(spec_of_product(4)));
  spec.fsdp2 = copies(1);  // an all-reduce of one
  EXPECT_EQ(predicted(spec).peak.allocated_bytes, predicted(spec_of_product(8)).peak.allocated_bytes);
}

/// Gradients that wait for the other copies in fp32 stay till the end of the pass.
TEST(Products, CopiesKeepWhatTheyReducedInAnotherType) {
  Spec spec = spec_of_product(8);
  spec.batch = 1;
  spec.seq = 8;  // so the peak is at the end of the backward pass, not at the logits
  spec.fsdp2 = Fsdp2Spec{.reduce_dtype = PolicyDtype::fp32};
  const std::int64_t alone = predicted(spec).steps.back().phases[1].peak_allocated_bytes;
  spec.fsdp2->data_parallel_replicate_degree = 1;
  EXPECT_GT(predicted(spec).steps.back().phases[1].peak_allocated_bytes, alone);
}

TEST(Products, RefuseByNameWhatTorchDoesNotDo) {
  Spec spec = spec_of_product(16);
  spec.tp = split_by(2);
  spec.fsdp2 = Fsdp2Spec{.reshard_after_forward = "2"};
  EXPECT_EQ(refused(spec), "fsdp2.reshard_after_forward");
  spec.fsdp2.reset();
  spec.pp = stages(2);
  spec.tp = TpSpec{.degree = 2, .plan = {}, .sequence_parallel = true};
  EXPECT_EQ(refused(spec), "tp.plan");
  spec.tp = split_by(2);
  spec.fsdp2 = copies(3);
  EXPECT_EQ(refused(spec), "fsdp2.data_parallel_replicate_degree");
  spec.fsdp2 = Fsdp2Spec{.requires_gradient_sync = false};
  EXPECT_EQ(refused(spec), "fsdp2.requires_gradient_sync");
  spec.fsdp2 = Fsdp2Spec{.offload_policy = Offload::cpu};
  EXPECT_EQ(refused(spec), "fsdp2.offload_policy");
  spec.fsdp2.reset();
  for (const Parallel parallel : {Parallel::fsdp1, Parallel::zero2, Parallel::ep}) {
    spec.parallel = parallel;
    EXPECT_EQ(refused(spec), "parallel");
  }
}

}  // namespace
}  // namespace tidemark
