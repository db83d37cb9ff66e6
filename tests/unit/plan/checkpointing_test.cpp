// Checkpointing under a budget, on real predictions, against every way of checkpointing.
#include "plan/checkpointing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "estimate/asked.h"

namespace tidemark::plan {
namespace {

constexpr std::int64_t kLayers = 4;

Question question() {
  Question asked;
  asked.spec.model = Value::Map{{"model_type", "llama"},    {"hidden_size", 256},
                                {"intermediate_size", 688}, {"num_hidden_layers", kLayers},
                                {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                                {"vocab_size", 512}};
  asked.spec.batch = 8;
  asked.spec.seq = 512;
  asked.spec.optimizer = OptimizerName::sgd;
  return asked;
}

Engine engine() {
  Card card = card_with_room();
  card.bf16_flops = 989'400'000'000'000;
  card.fp32_flops = 66'908'160'000'000;
  card.memory_bandwidth_bytes_per_s = 3'352'320'000'000;
  return {.model_config = question().spec.model,
          .card = card,
          .programs = shipped_programs(question().spec),
          .keep_margin = {}};
}

std::int64_t peak_of(const Spec& spec, const Engine& engine) {
  return make_oracle(engine).simulate(spec).peak.device_bytes;
}

/// Every layer in three ways, with every set of operators: peaks and seconds.
std::vector<std::pair<std::int64_t, double>> everything(const LayerWork& work, const Engine& engine) {
  std::vector<std::pair<std::int64_t, double>> all;
  const std::size_t sets = std::size_t{1} << work.operators.size();
  for (std::size_t set = 0; set < sets; ++set)
    for (std::size_t way = 0; way < 81; ++way) {
      LayerChoice choice{std::vector<bool>(kLayers), std::vector<bool>(kLayers), {}};
      for (std::size_t one = 0; one < work.operators.size(); ++one) choice.kept.push_back((set >> one & 1) != 0);
      bool keeps = false;
      for (std::size_t layer = 0, rest = way; layer < kLayers; ++layer, rest /= 3) {
        choice.layers[layer] = rest % 3 != 0;
        choice.keeping[layer] = rest % 3 == 2;
        keeps = keeps || choice.keeping[layer];
      }
      if (keeps != (set != 0)) continue;
      all.emplace_back(peak_of(with_choice(question().spec, work, choice), engine), seconds_again(work.costs, choice));
    }
  return all;
}

TEST(PlanCheckpointing, IsNearTheBestOfAll) {
  const Engine engine = tidemark::plan::engine();
  const LayerWork work = layer_work(question().spec, engine);
  ASSERT_THAT(work.operators, testing::ElementsAre("_scaled_dot_product_cudnn_attention", "mm", "silu"));
  const auto all = everything(work, engine);
  const auto [low, high] = std::ranges::minmax(all, {}, [](const auto& one) { return one.first; });
  int budgets = 0, best = 0;
  double before = 1e9;
  for (int step = 0; step <= 40; ++step) {
    const std::int64_t budget = low.first + (high.first - low.first) * step / 40;
    double least = 1e9;
    for (const auto& [peak, seconds] : all)
      if (peak <= budget) least = std::min(least, seconds);
    const CheckpointingPlan found = plan_checkpointing(question(), budget, engine);
    ASSERT_FALSE(found.plan.answers.empty()) << step;
    const Planned& answer = found.plan.answers.front();
    EXPECT_LE(answer.seen.peak.device_bytes, budget);
    EXPECT_EQ(answer.seen.peak.device_bytes, peak_of(answer.spec, engine));
    const auto is_it = [&](const auto& one) { return one.first == answer.seen.peak.device_bytes; };
    ASSERT_TRUE(std::ranges::any_of(all, is_it));
    const double seconds = found.again_seconds;
    EXPECT_LE(seconds, before + 1e-12) << step;
    before = seconds;
    ++budgets;
    best += seconds <= least * (1 + 1e-9) ? 1 : 0;
    EXPECT_LE(seconds, least * 1.01) << step;
  }
  EXPECT_GE(best, 33) << "of " << budgets;
}

}  // namespace
}  // namespace tidemark::plan
