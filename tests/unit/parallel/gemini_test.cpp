#include "parallel/gemini.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "parallel/gemini_manager.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

using enum ChunkTensorState;

/// Parameters in half precision on a device.
class Gemini : public testing::Test {
 protected:
  void add(const std::vector<std::int64_t>& sizes) {
    root_.dtype = Dtype::f16;
    for (std::size_t i = 0; i < sizes.size(); ++i) root_.add(std::to_string(i)).parameter("weight", {sizes[i]});
    root_.to_device(run_);
  }
  std::vector<GeminiManager::Place> place_all(GeminiManager& manager) {
    std::vector<GeminiManager::Place> places;
    for (const Tensor& parameter : trainable_parameters(root_)) places.push_back(manager.add_parameter(parameter));
    manager.close_all();
    return places;
  }
  std::int64_t allocated_bytes() { return run_.allocator().totals().allocated_bytes; }

  tidemark::Run run_{RunConfig()};
  Module root_{""};
};

class GeminiRanks : public Gemini, public testing::WithParamInterface<std::int64_t> {};

/// Chunks that are full, in half precision and in float32; HybridAdam's buffer, the barrier's tensor, the counter of
/// overflows, and four numbers of the scaler.
TEST_P(GeminiRanks, HoldOneNth) {
  add({1 << 20, 1 << 19, 1 << 19});
  const StepHooks hooks =
      gemini(run_, root_, {.ranks = GetParam(), .search = {.search_range_m = 0, .min_chunk_size_m = 1}});
  EXPECT_EQ(allocated_bytes(), (2 + 4) * (1 << 21) / GetParam() + 7 * kSmallestBlock);
}

/// What ranks have of a parameter is all of it, once, whatever is unused in chunks.
TEST_P(GeminiRanks, ShareEachParameter) {
  const std::vector<std::int64_t> sizes{7, 1000, 333, 4096, 1, 64, 2049, 900};
  std::vector<std::int64_t> shared(sizes.size());
  for (std::int64_t rank = 0; rank < GetParam(); ++rank) {
    tidemark::Run run{RunConfig()};
    GeminiManager manager(run, {.ranks = GetParam(), .rank = rank}, {2048, false});
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Tensor parameter = empty(run, Dims{sizes[i]}, Dtype::f16);
      const GeminiManager::Place place = manager.add_parameter(parameter);
      const GeminiChunk::Range range = place.chunk->range_of(place.index);
      shared[i] += std::max<std::int64_t>(range.end - range.begin, 0);
    }
    manager.close_all();
    std::int64_t valid = 0, ranges = 0;
    for (const GeminiChunk& chunk : manager.parameter_chunks()) {
      valid += chunk.valid().elements();
      for (std::size_t i = 0; i < chunk.tensors().size(); ++i)
        ranges += std::max<std::int64_t>(chunk.range_of(i).end - chunk.range_of(i).begin, 0);
    }
    EXPECT_EQ(valid, ranges) << "rank " << rank;
  }
  EXPECT_EQ(shared, sizes);
}

INSTANTIATE_TEST_SUITE_P(Ranks, GeminiRanks, testing::Values(1, 2, 4, 8, 16));

// | 600 300 . | 500 | 3000 | 100 |  of 1024: what is larger has a chunk of its own, which closes the one before
TEST_F(Gemini, FillsChunksInOrder) {
  add({600, 300, 500, 3000, 100});
  GeminiManager manager(run_, {.ranks = 8}, {1024, false});
  const std::vector<GeminiManager::Place> places = place_all(manager);
  std::vector<std::int64_t> bytes;
  for (const GeminiChunk& chunk : manager.parameter_chunks()) bytes.push_back(chunk.bytes());
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{2048, 2048, 6000, 2048}));
  EXPECT_EQ(places[0].chunk, places[1].chunk);
  EXPECT_NE(places[1].chunk, places[2].chunk);
}

TEST_F(Gemini, LetsGoOfWhatNoOperationUses) {
  add({1024, 1024, 1024});
  GeminiManager manager(run_, {.ranks = 4}, {1024, false});
  const std::vector<GeminiManager::Place> places = place_all(manager);
  const std::int64_t shards = allocated_bytes(), gathered = 2048 - 512;
  manager.before_operation({places[0]});
  EXPECT_EQ(allocated_bytes(), shards + gathered);
  manager.before_operation({places[1]});  // while the first still runs
  EXPECT_EQ(allocated_bytes(), shards + 2 * gathered);
  manager.after_operation({places[0]});
  manager.after_operation({places[1]});
  manager.before_operation({places[2]});
  EXPECT_EQ(allocated_bytes(), shards + gathered);
}

TEST_F(Gemini, KeepsWhatShardParamFracSays) {
  add({1024, 1024, 1024});
  GeminiManager manager(run_, {.ranks = 4, .shard_param_frac = 0}, {1024, false});
  const std::vector<GeminiManager::Place> places = place_all(manager);
  const std::int64_t shards = allocated_bytes();
  for (const GeminiManager::Place& place : places) {
    manager.before_operation({place});
    manager.after_operation({place});
  }
  EXPECT_EQ(allocated_bytes(), shards + 3 * (2048 - 512));
}

TEST_F(Gemini, ReducesAChunkWithItsLastGradient) {
  add({512, 512});
  GeminiManager manager(run_, {.ranks = 4}, {1024, false});
  const std::vector<GeminiManager::Place> places = place_all(manager);
  GeminiChunk& chunk = *places[0].chunk;
  manager.begin_backward();
  for (const GeminiManager::Place& place : places) {
    EXPECT_FALSE(chunk.is_gathered() && chunk.can_reduce());
    manager.before_operation({place});
    manager.after_operation({place});
    EXPECT_TRUE(chunk.is_gathered());
    manager.take_gradient(place, empty(run_, Dims{512}, Dtype::f16));
  }
  EXPECT_FALSE(chunk.is_gathered());
  manager.end_backward();
  EXPECT_EQ(manager.passes(), 1);
}

TEST_F(Gemini, RefusesAParameterWithoutGradient) {
  add({512, 512});
  GeminiManager manager(run_, {.ranks = 4}, {1024, false});
  const std::vector<GeminiManager::Place> places = place_all(manager);
  manager.begin_backward();
  manager.before_operation({places[0]});
  EXPECT_THROW(manager.end_backward(), Error);
}

// chunk.py, STATE_TRANS: what cannot follow is passed over.
TEST_F(Gemini, PassesOverStatesThatCannotFollow) {
  GeminiChunk chunk(run_, 0, {.elements = 8, .ranks = 2});
  chunk.append({}, {8});
  chunk.set_state(0, ready_for_reduce);
  EXPECT_TRUE(chunk.can_release());
  chunk.set_state(0, compute);
  EXPECT_FALSE(chunk.can_release());
  chunk.set_state(0, ready_for_reduce);
  EXPECT_FALSE(chunk.can_reduce());
  chunk.set_state(0, hold_after_bwd);
  EXPECT_TRUE(chunk.can_release());
  chunk.set_state(0, ready_for_reduce);
  EXPECT_TRUE(chunk.can_reduce());
  EXPECT_FALSE(chunk.can_release());
}

}  // namespace
}  // namespace tidemark
