#include "estimate/trained_parts.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "estimate/asked.h"
#include "support/throws.h"

namespace tidemark {
namespace {

Spec spec_of(const char* model_type) {
  Spec spec;
  spec.model = Value::Map{{"model_type", model_type}, {"hidden_size", 64},        {"intermediate_size", 96},
                          {"num_hidden_layers", 2},   {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                          {"vocab_size", 128}};
  spec.seq = 16;
  spec.steps = 1;
  return spec;
}

void expect_error(const Spec& spec, const char* where, const char* message, const char* hint) {
  const std::optional<Error> error = error_of([&] { predicted(spec); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), where);
  EXPECT_EQ(error->message(), message);
  EXPECT_EQ(error->hint(), hint);
}

bool assumes_first(const Report& report, const std::string& what) {
  return std::any_of(report.assumptions.begin(), report.assumptions.end(),
                     [&](const Assumption& one) { return one.moves_peak && one.what.find(what) != std::string::npos; });
}

TEST(TrainedParts, NamesThatMatchNothingAreErrors) {
  Spec frozen = spec_of("llama"), trained = frozen, adapted = frozen;
  frozen.freeze = {"embed_tokens", "layerz"};
  expect_error(frozen, "freeze", "nothing in the model is called layerz", "did you mean layers?");
  trained.train_only = {"self_attm"};
  expect_error(trained, "train_only", "nothing in the model is called self_attm", "did you mean self_attn?");
  adapted.lora.emplace().target_modules = std::vector<std::string>{"qproj", "v_proj"};
  expect_error(adapted, "lora.target_modules", "nothing in the model is called qproj", "did you mean q_proj?");
}

TEST(TrainedParts, NamesOfATrainersFileMayMatchNothing) {
  Spec spec = spec_of("llama");
  spec.lenient_names = true;
  spec.lora.emplace().target_modules = std::vector<std::string>{"w1", "v_proj"};
  const Report lenient = predicted(spec);
  EXPECT_TRUE(assumes_first(lenient, "nothing in the model is called w1"));
  spec.lora->target_modules = std::vector<std::string>{"v_proj"};
  EXPECT_EQ(peak_bytes(spec), lenient.peak.allocated_bytes);
}

TEST(TrainedParts, LoraWithoutTargetsTakesPeftsOwn) {
  Spec spec = spec_of("llama");
  spec.lora.emplace();
  const std::int64_t peak = peak_bytes(spec);
  spec.lora->target_modules = std::vector<std::string>{"q_proj", "v_proj"};
  EXPECT_EQ(peak_bytes(spec), peak);
}

TEST(TrainedParts, LoraWithoutAChoiceOfPeftTakesAll) {
  Spec spec = spec_of("olmo2");
  spec.lora.emplace();
  const Report report = predicted(spec);
  EXPECT_TRUE(assumes_first(report, "adapters go beside all linear modules"));
  spec.lora->target_modules = "all-linear";
  EXPECT_EQ(peak_bytes(spec), report.peak.allocated_bytes);
}

TEST(TrainedParts, LoraWithoutTargetsLeavesExpertsOut) {
  Spec spec = spec_of("mixtral");
  spec.lora.emplace();
  const Report report = predicted(spec);
  EXPECT_TRUE(assumes_first(report, "adapters go beside q_proj, k_proj, v_proj and o_proj"));
}

}  // namespace
}  // namespace tidemark
