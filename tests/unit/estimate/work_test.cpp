// What predictions count as computed against torch's own counter: tools/trace/count_flops.py, of torch 2.11.0 and
// transformers 5.17.0, which counts attention over all pairs where causal attention has half.
#include "tensor/work.h"

#include <gtest/gtest.h>

#include "estimate/asked.h"

namespace tidemark {
namespace {

Value llama_of_work() {
  return Value::Map{{"model_type", "llama"},    {"hidden_size", 64},
                    {"intermediate_size", 176}, {"num_hidden_layers", 2},
                    {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                    {"vocab_size", 256},        {"max_position_embeddings", 64}};
}

Spec text() {
  Spec spec;
  spec.model = llama_of_work();
  spec.batch = 2;
  spec.seq = 32;
  spec.steps = 1;
  return spec;
}

Work work_of(const Spec& spec) {
  Work work;
  PredictOptions options;
  options.work = &work;
  predicted(spec, options);
  return work;
}

double product_flops(const Work& work) {
  double flops = 0;
  for (const auto& [shape, count] : work.products) flops += count * shape.flops();
  return flops;
}

void expect_products(const Work& work, double products, double attention, double backward) {
  double seen[2] = {0, 0};
  for (const auto& [shape, flops] : work.attention_flops) seen[shape.backward ? 1 : 0] += flops;
  EXPECT_EQ(product_flops(work), products);
  EXPECT_EQ(seen[0], attention);
  EXPECT_EQ(seen[1], backward);
}

TEST(Work, IsWhatTorchCounts) { expect_products(work_of(text()), 44827136, 1048576 / 2, 2621440 / 2); }

/// (tokens, out, in) forward, (tokens, in, out) and (out, in, tokens) backward.
TEST(Work, HasTheShapesOfProducts) {
  const Work work = work_of(text());
  const double tokens = 64, layers = 2;
  EXPECT_EQ(work.products.at({true, tokens, 176, 64}),
            layers * 4);                                    // gate, up, and both of down's gradients, of 64 tokens
  EXPECT_EQ(work.products.at({true, tokens, 256, 64}), 1);  // the head
  EXPECT_EQ(work.products.at({true, 256, 64, tokens}), 1);
}

/// What a product writes is a part of its time.
TEST(Work, OfOtherKernelsIsLessThanAll) {
  const Work work = work_of(text());
  EXPECT_GT(work.forward_bytes, static_cast<double>(work.parameter_bytes));
  EXPECT_GT(work.backward_bytes, 0);
}

TEST(Work, OfEagerAttentionIsProducts) {
  Spec spec = text();
  spec.attn = Attention::eager;
  expect_products(work_of(spec), 47972864, 0, 0);
}

TEST(Work, HasLayersThatRunAgain) {
  Spec spec = text();
  spec.checkpointing = Checkpointing::non_reentrant;
  expect_products(work_of(spec), 54788608, 2097152 / 2, 2621440 / 2);
}

/// What a checkpoint runs again are kernels of a forward pass, in the backward pass's time.
TEST(Work, OfWhatRunsAgainIsOfTheForwardPass) {
  const Work once = work_of(text());
  for (const Checkpointing how : {Checkpointing::non_reentrant, Checkpointing::reentrant}) {
    Spec spec = text();
    spec.checkpointing = how;
    const Work again = work_of(spec);
    EXPECT_GT(again.forward_bytes, once.forward_bytes);
    EXPECT_LE(again.backward_bytes, once.backward_bytes);  // a layer's own gradient is added up elsewhere
    EXPECT_GT(again.backward_bytes, 0.9 * once.backward_bytes);
    EXPECT_EQ(again.flops - again.forward_flops, once.flops - once.forward_flops);
    EXPECT_GT(again.forward_operations, once.forward_operations);
    EXPECT_LT(again.forward_operations, again.operations);
  }
}

/// Of tools/efficiency/host.py, OPERATIONS: a layer of GPT-2 with checkpoints, of one sample.
TEST(Work, HasTheOperationsOfALayer) {
  const auto operations = [](std::int64_t layers) {
    Spec spec;
    spec.model = Value::Map{{"model_type", "gpt2"}, {"n_embd", 64},
                            {"n_head", 4},          {"n_layer", layers},
                            {"n_positions", 64},    {"vocab_size", 256},
                            {"attn_pdrop", 0.0},    {"embd_pdrop", 0.0},
                            {"resid_pdrop", 0.0},   {"activation_function", "gelu"}};
    spec.batch = spec.steps = 1;
    spec.seq = 32;
    spec.attn = Attention::eager;
    spec.dtype = WeightDtype::fp16;
    spec.optimizer = OptimizerName::sgd;  // as the pass of a plan has it
    spec.checkpointing = Checkpointing::non_reentrant;
    return work_of(spec).operations;
  };
  EXPECT_EQ(operations(3) - operations(2), 65);
}

TEST(Work, OfFrozenLayersIsTheirForwardPass) {
  Spec spec = text();
  spec.train_only = {"layers.1"};
  expect_products(work_of(spec), 29884928, 1048576 / 2, 1310720 / 2);
}

TEST(Work, OfAdaptersIsTheirOwnAndWhatLeadsToThem) {
  Spec spec = text();
  spec.lora = LoraSpec{};
  spec.lora->target_modules = std::vector<std::string>{"q_proj", "v_proj"};
  spec.lora->adapter_dtype = AdapterDtype::bf16;
  expect_products(work_of(spec), 29753856, 1048576 / 2, 2621440 / 2);
}

TEST(Work, GrowsWithSteps) {
  Spec spec = text();
  const Work one = work_of(spec);
  spec.steps = 3;
  const Work three = work_of(spec);
  EXPECT_EQ(product_flops(three), 3 * product_flops(one));
  EXPECT_EQ(three.parameter_bytes, one.parameter_bytes);
  EXPECT_EQ(one.trained_bytes, one.parameter_bytes);
}

}  // namespace
}  // namespace tidemark
