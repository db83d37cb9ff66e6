// Recorded training steps of the models that programs here were captured of, predicted from the programs: the same
// allocations in the same order, and between two of them the same frees.
#include <algorithm>

#include "../allocations.h"
#include "../programs_at_hand.h"
#include "base/error.h"

namespace tidemark {
namespace {

const Recordings& recordings() {
  static const Recordings all(recordings_folder(TIDEMARK_RECORDINGS "/../steps"));
  return all;
}

TEST(Programs, AreRead) {
  EXPECT_EQ(all_captured().errors, std::vector<std::string>());
  EXPECT_FALSE(all_captured().models.empty());
}

/// Whether there is a program of the way in which experts are run.
bool has_experts_way(const Spec& spec, const Captured& captured) {
  const std::string asked(kExpertsNames[static_cast<std::size_t>(spec.experts_implementation)]);
  return std::any_of(captured.programs.begin(), captured.programs.end(), [&](const Program& program) {
    const auto way = program.header.find("experts");
    return way == program.header.end() || way->second == asked;
  });
}

/// What a program does not tell: how a model with images is cut into stages, or the tokens of a sample onto several
/// GPUs; how many tokens an expert of another rank gets; whether what a hook takes out of a reentrant checkpoint has a
/// gradient; the heads of one GPU's part, where it names all; and that Python looks at the type of another module's
/// weight, which ZeRO 3 then gathers, and which is another one where norms and towers are prepared for quantized
/// weights.
bool is_told(const Spec& spec, const Captured& captured) {
  const std::string& family = captured.programs[0].model_type;
  const bool eager_parts = spec.tp && spec.attn == Attention::eager;
  const bool looked_at = spec.parallel == Parallel::zero3 && family == "llava";
  const Value* routers = captured.config.find("output_router_logits");
  if (spec.quantization && spec.quantization->prepare && spec.images > 0) return false;
  if (spec.checkpointing == Checkpointing::reentrant && routers && *routers == Value(true)) return false;
  const bool images_between = spec.pp && spec.images > 0;
  const bool is_cut = spec.cp || images_between || spec.parallel == Parallel::ep;
  return has_experts_way(spec, captured) && !is_cut && !eager_parts && !looked_at;
}

bool has_images(const Captured& captured) {
  const std::vector<InputDeclaration>& inputs = captured.programs[0].inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const InputDeclaration& input) { return input.name == "pixel_values"; });
}

std::vector<RecordedCase> of_captured() {
  std::vector<RecordedCase> found;
  for (const RecordedCase& recorded : recordings().cases()) {
    if (!recorded.is_base) continue;
    const Spec spec = spec_of(read_recorded_step(recordings(), recorded).header);
    const Captured* captured = captured_of(spec.model, spec.head);
    if (captured && is_told(spec, *captured) && (spec.images > 0) == has_images(*captured)) found.push_back(recorded);
  }
  return found;
}

/// Whether the shipped program answers; what it gives then is what was recorded.
bool is_answered(const RecordedCase& recorded_case) {
  const Recorded recorded = read_recorded(recordings(), recorded_case);
  const Spec spec = spec_of(recorded.header);
  Allocations events;
  try {
    std::vector<Program> programs;
    programs.push_back(shipped_program_of(spec, spec.model));
    predict(spec, spec.model, card_of(recorded.header),
            {.on_event = [&](std::string_view line) { events.add(line); }, .programs = programs});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported) << error.where() << ": " << error.message();
    return false;
  }
  expect_same(recorded.events.list, events.list);
  return true;
}

/// Heads of one number: what has one element in a row lies as no other does, and nobody trains such a model.
constexpr std::string_view kOfOneNumber = "bloom_one_wide";

TEST(Shipped, GiveWhatWasRecordedOrSayThatTheyDoNotHold) {
  int answered = 0, asked = 0;
  for (const RecordedCase& recorded : recordings().cases()) {
    if (!recorded.is_base || recorded.name == kOfOneNumber) continue;
    const Spec spec = spec_of(read_recorded_step(recordings(), recorded).header);
    if (!shipped_of(spec, spec.model)) continue;
    SCOPED_TRACE(recorded.name);
    ++asked;
    if (is_answered(recorded)) ++answered;
  }
  EXPECT_GE(answered, 1249) << "of " << asked;
}

class FromProgram : public testing::TestWithParam<RecordedCase> {};

TEST_P(FromProgram, IsPredictedAllocationByAllocation) {
  const Recorded recorded = read_recorded(recordings(), GetParam());
  const Spec spec = spec_of(recorded.header);
  const Captured& captured = *captured_of(spec.model, spec.head);
  Allocations events;
  predict(spec, captured.programs[0].config, card_of(recorded.header),
          {.on_event = [&](std::string_view line) { events.add(line); }, .programs = captured.programs});
  expect_same(recorded.events.list, events.list);
}

constexpr auto kTold = [](const auto& recorded) { return recorded.param.told(); };
INSTANTIATE_TEST_SUITE_P(Base, FromProgram, testing::ValuesIn(of_captured()), kTold);

}  // namespace
}  // namespace tidemark
