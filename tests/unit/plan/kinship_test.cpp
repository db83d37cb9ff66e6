// What one simulation tells of other families, held against simulating those.
#include "plan/kinship.h"

#include <gtest/gtest.h>

#include "base/in_parallel.h"
#include "estimate/asked.h"
#include "estimate/device.h"
#include "plan/oracle.h"

namespace tidemark::plan {
namespace {

Spec llama(LoopKind loop) {
  Spec spec;
  spec.model = Value::Map{{"model_type", "llama"},  {"hidden_size", 256},       {"intermediate_size", 512},
                          {"num_hidden_layers", 4}, {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                          {"vocab_size", 4096}};
  spec.batch = 8;
  spec.seq = 64;
  spec.loop = loop;
  return spec;
}

/// A card with so much room beside what is taken before a program begins.
Engine engine_with(std::int64_t room_bytes) {
  Card card = card_with_room();
  card.total_bytes = card.driver_reserved_bytes + taken_at_start_bytes(card) + room_bytes;
  card.link = {"nvlink", 450'000'000'000};
  return {.model_config = llama(LoopKind::plain).model,
          .card = card,
          .programs = shipped_programs(llama(LoopKind::plain)),
          .keep_margin = {}};
}

struct Asked {
  LoopKind loop;
  std::int64_t gpus, room_mebibytes;
  bool told_by_loading, told_by_passes;
};

class KinshipOfRealPredictions : public testing::TestWithParam<Asked> {};

/// Of every family the smallest pass and the largest.
TEST_P(KinshipOfRealPredictions, WhatIsGoneWithAnotherDoesNotFit) {
  const auto [loop, gpus, room_mebibytes, told_by_loading, told_by_passes] = GetParam();
  Spec spec = llama(loop);
  spec.gpus = spec.gpus_per_node = gpus;
  const Space space =
      make_space(spec, {.gpus = gpus, .gpus_per_node = gpus, .samples_per_step = 8 * gpus, .values = {}}, {});
  const Engine engine = engine_with(room_mebibytes << 20);
  const Oracle oracle = make_oracle(engine);
  std::vector<std::size_t> looked_at;
  for (const auto& family : space.families) {
    looked_at.push_back(family.front());
    if (family.size() > 1) looked_at.push_back(family.back());
  }
  std::vector<Seen> seen(space.candidates.size());
  in_parallel(looked_at.size(), [&](std::size_t i) { seen[looked_at[i]] = oracle.simulate(space.spec(looked_at[i])); });
  const Kinship kinship(space);
  std::size_t gone[2] = {};
  for (const std::size_t one : looked_at)
    for (const std::size_t other : kinship.gone_with(one, seen[one])) {
      const auto& family = space.families[space.candidates[other].family];
      if (other != family.front() && other != family.back()) continue;
      ASSERT_FALSE(seen[other].fits) << one << " and " << other;
      ++gone[seen[one].ran_out_in == Moment::passes];
    }
  EXPECT_EQ(gone[false] > 0, told_by_loading);
  EXPECT_EQ(gone[true] > 0, told_by_passes);
}

INSTANTIATE_TEST_SUITE_P(Cards, KinshipOfRealPredictions,
                         testing::Values(Asked{LoopKind::plain, 1, 8, true, false},
                                         Asked{LoopKind::plain, 1, 40, false, true},
                                         Asked{LoopKind::plain, 4, 8, true, true},
                                         Asked{LoopKind::plain, 4, 30, true, true},
                                         Asked{LoopKind::trainer, 2, 40, true, true}));

}  // namespace
}  // namespace tidemark::plan
