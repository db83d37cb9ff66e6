#include "parallel/zero_init.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "parallel/zero3_parameters.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

/// Two layers, of which one has a rotary embedding, and a head.
class ZeroInitOf : public testing::TestWithParam<std::tuple<std::int64_t, bool>> {
 protected:
  ZeroInitOf() {
    root_.dtype = Dtype::bf16;
    root_.add("first").parameter("weight", {1 << 12}).parameter("bias", {1 << 10});
    root_.add("rotary").buffer("inv_freq", {16}, Dtype::f32).buffer("original_inv_freq", {16}, Dtype::f32);
    root_.add("head").parameter("weight", {1 << 12});
  }

  std::shared_ptr<ParameterStore> made(const std::string& rope_type = "default") {
    const auto [ranks, from_config] = GetParam();
    return make_in_parts(run_, root_, {.ranks = ranks}, {.from_config = from_config, .rope_type = rope_type});
  }
  std::int64_t allocated() { return run_.allocator().totals().allocated_bytes; }

  tidemark::Run run_{RunConfig()};
  Module root_{""};
};

TEST_P(ZeroInitOf, LeavesOnePartOfEachParameterAndTheBuffers) {
  const std::shared_ptr<ParameterStore> store = made();
  EXPECT_EQ(allocated(), 2 * (2 * (1 << 12) + (1 << 10)) / std::get<0>(GetParam()) + 2 * kSmallestBlock);
}

TEST_P(ZeroInitOf, LeavesOnePartOfWhatIsTied) {
  root_["head"].tie("weight", root_["first"], "weight");
  const std::shared_ptr<ParameterStore> store = made();
  EXPECT_EQ(allocated(), 2 * ((1 << 12) + (1 << 10)) / std::get<0>(GetParam()) + 2 * kSmallestBlock);
}

TEST_P(ZeroInitOf, CutsParametersInTheOrderInWhichModulesAreFinished) {
  root_.parameter("scale", {1});
  const std::shared_ptr<ParameterStore> store = made();
  store->convert(root_);
  std::vector<std::size_t> ids;
  for (const Zero3Parameter* parameter : store->all()) ids.push_back(parameter->id);
  EXPECT_EQ(ids, (std::vector<std::size_t>{3, 0, 1, 2}));  // as named_parameters has them: the root's own first
}

TEST_P(ZeroInitOf, MakesFrequenciesInTheTypeThatTheirFunctionLeaves) {
  made();
  EXPECT_EQ(root_["rotary"].get("inv_freq").tensor.dtype(), Dtype::bf16);
}

TEST_P(ZeroInitOf, MakesFrequenciesOfIntegersInFp32) {
  made("llama3");
  EXPECT_EQ(root_["rotary"].get("inv_freq").tensor.dtype(), Dtype::f32);
}

TEST_P(ZeroInitOf, RefusesRotaryEmbeddingsThatAreNotKnown) { EXPECT_THROW(made("proportional"), Error); }

TEST_P(ZeroInitOf, RefusesBuffersThatAreNotKnown) {
  root_.add("mask").buffer("bias", {1, 1, 8, 8}, Dtype::boolean);
  EXPECT_THROW(made(), Error);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ZeroInitOf, testing::Combine(testing::Values(1, 2, 4), testing::Bool()));

}  // namespace
}  // namespace tidemark
