#include <gtest/gtest.h>

#include "estimate/asked.h"

namespace tidemark {
namespace {

Value::Map llama() {
  return {{"model_type", "llama"},    {"hidden_size", 128},       {"intermediate_size", 344}, {"num_hidden_layers", 2},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"vocab_size", 1024}};
}

Spec spec_of(std::int64_t degree, std::int64_t rank = 0) {
  Spec spec;
  spec.model = llama();
  spec.seq = 512;
  spec.gpus = degree;
  spec.rank = rank;
  spec.cp = CpSpec{.degree = degree};
  return spec;
}

TEST(ContextParallel, OneGpuSharesWithNobody) {
  Spec none = spec_of(1);
  none.cp.reset();
  EXPECT_EQ(peak_bytes(spec_of(1)), peak_bytes(none));
}

TEST(ContextParallel, ActivationsAreShared) {
  const std::int64_t one = peak_bytes(spec_of(1)), two = peak_bytes(spec_of(2)), four = peak_bytes(spec_of(4));
  EXPECT_LT(two, one);
  EXPECT_LT(four, two);
}

TEST(ContextParallel, DataParallelismBesideItChangesTheRankAlone) {
  Spec alone = spec_of(2, 1), pair = spec_of(2, 3);
  alone.parallel = pair.parallel = Parallel::ddp;
  pair.gpus = 4;
  EXPECT_EQ(peak_bytes(alone), peak_bytes(pair));
}

TEST(ContextParallel, RefusesByName) {
  const auto with = [](auto change) {
    Spec spec = spec_of(2);
    change(spec);
    return refused(spec);
  };
  EXPECT_EQ(with([](Spec&) {}), "nothing");
  EXPECT_EQ(with([](Spec& spec) { spec.attn = Attention::eager; }), "cp");
  EXPECT_EQ(with([](Spec& spec) { spec.padding = true; }), "padding");
  EXPECT_EQ(with([](Spec& spec) { spec.seq = 514; }), "seq");
  EXPECT_EQ(with([](Spec& spec) { spec.cp->degree = 4; }), "cp.degree");
  EXPECT_EQ(with([](Spec& spec) { spec.labels = false; }), "labels");
  EXPECT_EQ(with([](Spec& spec) { spec.parallel = Parallel::zero2; }), "cp");
  EXPECT_EQ(with([](Spec& spec) { spec.tp = TpSpec{.degree = 2, .plan = {}}; }), "cp");
  const auto in_fp32_on = [&](const char* torch) {
    return with([torch](Spec& spec) {
      spec.dtype = WeightDtype::fp32;
      spec.torch = torch;
    });
  };
  EXPECT_EQ(in_fp32_on("2.11.0"), "cp");  // grouped heads: the math kernel
  EXPECT_EQ(in_fp32_on("2.15.0"), "nothing");
}

TEST(ContextParallel, RefusesCopiesBesideIt) {
  Spec spec = spec_of(2);
  spec.gpus = 4;
  spec.parallel = Parallel::fsdp2;
  EXPECT_EQ(refused(spec), "nothing");
  spec.fsdp2 = Fsdp2Spec{.data_parallel_replicate_degree = 2};
  EXPECT_EQ(refused(spec), "fsdp2.data_parallel_replicate_degree");
}

TEST(ContextParallel, RefusesModelsThatAreNotKnownWithAPartOfTheTokens) {
  const auto with = [](std::initializer_list<Value::Item> entries) {
    Spec spec = spec_of(2);
    for (const Value::Item& entry : entries) spec.model.set(entry.key, entry.value);
    return refused(spec);
  };
  EXPECT_EQ(with({{"model_type", "mistral"}, {"sliding_window", 64}}), "cp");
  EXPECT_EQ(with({{"model_type", "bloom"}}), "cp");
}

}  // namespace
}  // namespace tidemark
