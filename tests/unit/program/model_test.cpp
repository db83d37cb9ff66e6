#include "program/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/predict.h"
#include "io/program_text.h"
#include "program/tiny_program.h"
#include "program/tiny_training.h"
#include "support/sample_card.h"
#include "support/throws.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

Spec spec(Checkpointing checkpointing = Checkpointing::none) {
  Spec spec = tiny_spec();
  spec.checkpointing = checkpointing;
  return spec;
}

std::ptrdiff_t place_of(const std::vector<std::string>& events, const std::string& event) {
  return std::find(events.begin(), events.end(), event) - events.begin();
}

TEST(ProgramModel, HasTheModulesThatAreDeclared) {
  const std::vector<Program> programs = programs_of(tiny_program());
  const std::unique_ptr<Model> model = make_program_model(programs[0], {.use_cache = false}, Dtype::f16, true);
  std::vector<std::string> names;
  visit_parameters(model->root, [&](const Module& module, const Parameter& parameter) {
    names.push_back(full_name(module, parameter) + (parameter.trains ? "" : " frozen"));
  });
  EXPECT_THAT(names, testing::ElementsAre("embed.weight", "layers.0.norm.weight", "layers.0.up.weight",
                                          "layers.0.up.bias frozen", "layers.1.norm.weight", "layers.1.up.weight",
                                          "layers.1.up.bias frozen"));
  EXPECT_EQ(model->root["embed"].get("weight").dtype, Dtype::f16);
  EXPECT_EQ(model->root["layers"][0]["up"].get("bias").dtype, Dtype::f32);
}

/// With a list of two kinds of modules that go round; `second` is the place of the other kind.
std::vector<std::string> parameters_of_rounds(const std::string& second) {
  const std::string list = "  mixed: nn.ModuleList\n    0..1 by 3 to layers + 2: Odd\n      param a: T[2]\n    " +
                           second + ": Even\n      param b: T[3]\n";
  const std::vector<Program> programs =
      programs_of(with(tiny_program(), "  head: nn.Linear\n", list + "  head: nn.Linear\n"));
  const std::unique_ptr<Model> model = make_program_model(programs[0], {.use_cache = false}, Dtype::f16, true);
  std::vector<std::string> names;
  visit_parameters(model->root, [&](const Module& module, const Parameter& parameter) {
    if (const std::string name = full_name(module, parameter); name.starts_with("mixed")) names.push_back(name);
  });
  return names;
}

TEST(ProgramModel, KindsOfModulesMayGoRound) {
  EXPECT_THAT(parameters_of_rounds("2 by 3 to layers + 2"),
              testing::ElementsAre("mixed.0.a", "mixed.1.a", "mixed.2.b", "mixed.3.a", "mixed.4.a"));
  for (const char* other : {"2 by 0 to layers + 2", "2 by 4 to layers + 2", "2 by 3 to 9", "2..1 by 3 to layers + 2"})
    EXPECT_TRUE(error_of([&] { parameters_of_rounds(other); })
                    ->message()
                    .ends_with("modules that repeat otherwise than those beside them"))
        << other;
  EXPECT_TRUE(error_of([] { parameters_of_rounds("1 by 3 to layers + 2"); })->message().ends_with("1 is there twice"));
}

TEST(ProgramModel, ModulesAreOfTheKindsThatAListSays) {
  const std::string list =
      "  mixed: nn.ModuleList\n    0..2 of kinds \"a\": Odd\n      param a: T[2]\n    0..2 of kinds \"b\": Even\n      "
      "param b: T[3]\n";
  const std::string text = with(tiny_program(), "  head: nn.Linear\n", list + "  head: nn.Linear\n");
  EXPECT_TRUE(error_of([&] { programs_of(text); })->message().ends_with("kinds is no list of layers' kinds"));
}

TEST(ProgramModel, ValuesDieWhereTheProgramSaysSo) {
  // With nothing to train in front of the head no gradient keeps what the norm made.
  Spec asked = spec();
  asked.train_only = {"head"};
  const std::string early = with(tiny_program(), "weight = embed.weight", "weight: T[100, 64]");
  const std::string late = with(with(early, "  del %0\n  %2: T[B, S, 64] view", "  %2: T[B, S, 64] view"),
                                "  del %2 %3\n", "  del %2 %3 %0\n");
  const auto dies_before_product = [&](const std::string& text) {
    const std::vector<std::string> events = events_of(text, asked);
    return place_of(events, "-2048 - layers.0") < place_of(events, "+2048 aten::mul layers.0");
  };
  EXPECT_TRUE(dies_before_product(early));
  EXPECT_FALSE(dies_before_product(late));
}

TEST(ProgramModel, WhatIsDoneWithIsNotUsed) {
  const auto message = [](const std::string& from, const std::string& to) {
    return error_of([&] { events_of(with(tiny_program(), from, to), spec()); })->message();
  };
  EXPECT_EQ(message("  %4: T[B, S, 64] = torch", "  del %2\n  %4: T[B, S, 64] = torch"),
            "torch.Tensor.mul with a value that is done with is not simulated");
  EXPECT_EQ(message("torch.Tensor.float(%2)", "torch.Tensor.to(%2, dtype(%0))"),
            "torch.Tensor.to with a value that is done with is not simulated");
}

TEST(ProgramModel, WhereverAValueIsDoneWithThereIsAnAnswerOrAnError) {
  const std::string program = tiny_program();
  int answers = 0, errors = 0;
  for (std::size_t line = program.find("class Embedding");
       (line = program.find("\n  ", line + 1)) != std::string::npos;) {
    for (int value = 0; value <= 6; ++value) {
      std::string changed = program;
      changed.insert(line, "\n  del %" + std::to_string(value));
      try {
        events_of(changed, spec());
        ++answers;
      } catch (const Error&) {
        ++errors;
      }
    }
  }
  EXPECT_GT(answers, 5);
  EXPECT_GT(errors, 100);
}

Spec with_adapters(std::vector<std::string> targets) {
  Spec asked = spec();
  asked.lora = LoraSpec{.target_modules = std::move(targets)};
  return asked;
}

TEST(ProgramModel, AdaptersComeAroundAClassThatIsDerivedFromLinear) {
  const std::string derived = with(tiny_program(), "up: nn.Linear", "up: TinyLinear(nn.Linear)");
  EXPECT_EQ(events_of(derived, with_adapters({"up"})), events_of(tiny_program(), with_adapters({"up"})));
  EXPECT_EQ(events_of(derived, spec()), events_of(tiny_program(), spec()));
}

TEST(ProgramModel, AnAdapterHasItsBaseLayersWeights) {
  const std::string by_weight =
      with(with(tiny_program(), "up: nn.Linear", "up: nn.NonDynamicallyQuantizableLinear"), "call up: Linear#1(0=%0)",
           "torch.nn.functional.linear(%0, self.up.weight, self.up.bias)");
  const std::vector<std::string> events = events_of(by_weight, with_adapters({"up", "head"}));
  EXPECT_LT(place_of(events, "+4096 aten::linear layers.0"), std::ssize(events));
}

TEST(ProgramModel, PartsMayHaveAnotherAttention) {
  const std::string mixed = with(tiny_program(), "attention sdpa\n", "attention sdpa vision_config=eager\n");
  EXPECT_EQ(events_of(mixed, spec()), events_of(tiny_program(), spec()));
}

TEST(ProgramModel, CheckpointsWhatIsMarkedSo) {
  const std::vector<std::string> all = events_of(tiny_program(), spec());
  const std::vector<std::string> checkpointed = events_of(tiny_program(), spec(Checkpointing::non_reentrant));
  EXPECT_GT(checkpointed.size(), all.size());  // the layers run again
  EXPECT_EQ(events_of(with(with(tiny_program(), "TinyLayer checkpointable\n", "TinyLayer\n"),
                           "64]) checkpointable:", "64]):"),
                      spec(Checkpointing::non_reentrant)),
            all);
}

/// Two layers, of which the last leaves half of what it makes, and that dies behind it: in a dict or, without the mark,
/// otherwise.
std::string with_left_behind(const std::string& mark) {
  std::string text = with(
      tiny_program(),
      "  repeat i in 0..layers - 1:\n    %1: T[B, S, 64] = call layers.{i}: TinyLayer#1(0=%0)\n    next %0=%1\n",
      "  %20: T[B, S, 64] = call layers.0: TinyLayer#1(0=%0)\n  %21: T[B, S, 64], %22: T[B, S, 64] = call layers.1: TinyLayer#2(0=%20)" +
          mark + "\n  del %0 %20 %22\n");
  text = with(text, "call head: Linear#2(0=%0)\n  del %0\n", "call head: Linear#2(0=%21)\n  del %21\n");
  return with(
      text, "class TinyForCausalLM#1",
      "class TinyLayer#2(0: T[B, S, 64]) checkpointable:\n  %0: T[B, S, 64] = call norm: TinyNorm#1(0=$0)\n  %1: T[B, S, 64] = torch.Tensor.neg(%0)\n  del %0\n"
      "  %2: T[B, S, 64] = torch.Tensor.mul($0, self.norm.weight)\n  return %2, ^0=%1\n\nclass TinyForCausalLM#1");
}

TEST(ProgramModel, ACheckpointHoldsTheDictThatItsLayerIsGiven) {
  const auto live_at_head = [](const std::string& mark, Checkpointing checkpointing) {
    std::int64_t live = 0;
    for (const std::string& event : events_of(with_left_behind(mark), spec(checkpointing))) {
      if (event.ends_with("aten::linear head")) return live;
      live += std::stoll(event);
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(live_at_head(" !shared", Checkpointing::none), live_at_head("", Checkpointing::none));
  for (const Checkpointing kind : {Checkpointing::non_reentrant, Checkpointing::reentrant})
    EXPECT_EQ(live_at_head(" !shared", kind), live_at_head("", kind) + 2 * 8 * 64 * 2);
  std::int64_t left = 0, without = 0;  // nothing is forgotten
  for (const std::string& event : events_of(with_left_behind(" !shared"), spec(Checkpointing::non_reentrant)))
    left += std::stoll(event);
  for (const std::string& event : events_of(with_left_behind(""), spec(Checkpointing::non_reentrant)))
    without += std::stoll(event);
  EXPECT_EQ(left, without);
}

TEST(ProgramModel, RefusesWhatItWasNotCapturedFor) {
  Spec asked = spec();
  asked.attn = Attention::eager;
  EXPECT_EQ(error_of([&] { events_of(tiny_program(), asked); })->message(),
            "no program was captured with attention eager, cache false, experts grouped_mm, padding false");
  asked = spec();
  asked.labels = false;
  EXPECT_EQ(error_of([&] { events_of(tiny_program(), asked); })->message(), "the program was captured with labels");
  asked = spec();
  asked.seq = 9;
  EXPECT_EQ(error_of([&] {
              events_of(with(tiny_program(), "input input_ids: int64[B, S]", "input input_ids: int64[2, 8]"), asked);
            })->message(),
            "the program holds for batches of 2 x 8 alone");
}

TEST(ProgramModel, HoldsForTheLengthsThatItSays) {
  const std::string text = with(tiny_program(), "sizes B=2 S=8\n", "sizes B=2 S=8\nholds S > 4, S <= 2*layers + 4\n");
  EXPECT_NO_THROW(events_of(text, spec()));
  for (const std::int64_t seq : {4, 9}) {
    Spec asked = spec();
    asked.seq = seq;
    EXPECT_EQ(error_of([&] { events_of(text, asked); })->message(),
              seq == 4 ? "the program holds for S > 4 alone" : "the program holds for S <= 2*layers + 4 alone");
  }
}

TEST(ProgramModel, SaysWhereAnOperationMakesSomethingElse) {
  const std::string wrong = with(tiny_program(), "%3: T[B, S, 64] view", "%3: T[B, S, 63] view");
  const Error sizes = *error_of([&] { events_of(wrong, spec()); });
  EXPECT_EQ(sizes.message(), "torch.chunk gives [2, 8, 64] here, and [2, 8, 63] in the program");
  EXPECT_EQ(sizes.where(), "tiny.program:47");
  const Error tensors = *error_of([&] { events_of(with(tiny_program(), "(%3, -1, 100)", "(%3, -1, 99)"), spec()); });
  EXPECT_THAT(tensors.message(), HasSubstr("torch.Tensor.view does not take these tensors"));
  EXPECT_EQ(error_of([&] { events_of(with(tiny_program(), "call up:", "call upp:"), spec()); })->hint(),
            "did you mean up?");
}

}  // namespace
}  // namespace tidemark
