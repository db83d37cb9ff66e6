#include "program/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/program_text.h"
#include "nn/model.h"
#include "program/model.h"
#include "program/tiny_program.h"
#include "support/sample_card.h"
#include "support/throws.h"

namespace tidemark {
namespace {

/// The tiny program for every width and number of layers.
std::string tiny_family() {
  const std::string keys = R"(head causal_lm
instead TinyForSequenceClassification
key width = 64
key layers = 2
key hidden = 2*width; null
key text.depth = layers; also depth
key act = "gelu"; also hidden_act
key dropout = 0.1
key kinds = null
key parts = null
key some = null
key tie = true
key window = 4
holds act in ["gelu", "relu"]
holds dropout > 0.0
holds kinds cycles ["a", "b"]
holds parts cycles ["b", "c"] after ["a"]
holds some numbers layers in [true] after [false]
holds hidden % 8 == 0
)";
  std::string text = with(tiny_program(), "attention sdpa\ncache false\n", keys);
  text = with(text, "config {\"model_type\": \"tiny\", \"width\": 64, \"layers\": 2}\n",
              "main TinyForCausalLM#1 when attention == \"sdpa\", cache == false, S > window\n"
              "main TinyForCausalLM#2 when cache == false, S <= window\n");
  text = with(text, "param weight = embed.weight", "param weight: T[hidden, width] = embed.weight when tie");
  return text + R"(
class TinyForCausalLM#2(input_ids: int64[B, S], labels: int64[B, S]):
  %0: T[B, S, 64] = call embed: Embedding#1(0=$input_ids)
  return logits=%0
)";
}

/// Of a family that is built in two ways: the second takes any act.
std::string built_in_two_ways() {
  return tiny_family() + "\n" +
         with(with(tiny_family(), "holds act in [\"gelu\", \"relu\"]\n", ""), "key width = 64", "key width = 32");
}

Program bound(const Value& config, FamilyUse use = {.context = {.use_cache = false}, .seq = 8}) {
  return io::read_family_text(tiny_family(), "tiny", config, use);
}

Value config(Value::Map keys) { return keys; }

std::int64_t number(const Program& program, const std::string& name) {
  const auto found = std::find(program.symbols.begin(), program.symbols.end(), name);
  return program.captured_values.at(static_cast<std::size_t>(found - program.symbols.begin()));
}

std::string refusal(const Value& config, const FamilyUse& use = {.context = {.use_cache = false}, .seq = 8}) {
  return error_of([&] { bound(config, use); })->message();
}

TEST(Family, IsToldFromTheProgramOfOneConfiguration) {
  EXPECT_TRUE(is_family(tiny_family()));
  EXPECT_FALSE(is_family(tiny_program()));
}

/// The tiny family, equal on 5.24.0 but for a second way of one line.
std::string equal_but_for(const std::string& first, const std::string& second) {
  const std::string line = "  %0: T[B, S, 64] = call embed: Embedding#1(0=$input_ids)\n";
  std::string text = tiny_family();
  text.replace(text.rfind(line), line.size(), first + second);
  return with(text, "transformers 5.17.0\n", "transformers 5.17.0\nequal_on 5.24.0\n");
}

TEST(Family, OfALineThatReleasesDifferInTheirsIsTaken) {
  const std::string text = equal_but_for("  before 5.24.0 %0: T[B, S, 64] = call embed: Embedding#1(0=$input_ids)\n",
                                         "  since 5.24.0 %0: T[B, S, 64] = torch.relu($input_ids)\n");
  const auto kind = [&](const char* transformers) {
    const FamilyUse use{.context = {.use_cache = false}, .seq = 2, .transformers = transformers};
    return io::read_family_text(text, "tiny", config({}), use).bodies.at("TinyForCausalLM#2").statements[0].kind;
  };
  for (const char* before : {"5.17.0", "5.23.0"}) EXPECT_EQ(kind(before), Statement::Kind::call) << before;
  for (const char* since : {"", "5.24.0", "5.25.0"}) EXPECT_EQ(kind(since), Statement::Kind::function) << since;
}

TEST(Family, OfAParameterThatReleasesDifferInTheirsIsTaken) {
  const std::string both =
      "    before 5.24.0 param weight: T[100, width]\n    since 5.24.0 param weight: float32[100, width]\n";
  const std::string text = with(with(tiny_family(), "    param weight: T[100, width]\n", both), "transformers 5.17.0\n",
                                "transformers 5.17.0\nequal_on 5.24.0\n");
  const auto is_of_weights = [&](const char* transformers) {
    const FamilyUse use{.context = {.use_cache = false}, .seq = 2, .transformers = transformers};
    return io::read_family_text(text, "tiny", config({}), use).root.children[0].parameters[0].type.of_weights;
  };
  EXPECT_TRUE(is_of_weights("5.17.0"));
  EXPECT_FALSE(is_of_weights("5.24.0"));
}

TEST(Family, ALineOfAReleaseNamesOne) {
  const std::string text = equal_but_for("  since later %0: T[B, S, 64] = torch.relu($input_ids)\n", "");
  const auto error =
      error_of([&] { io::read_family_text(text, "tiny", config({}), {.context = {.use_cache = false}, .seq = 2}); });
  EXPECT_EQ(error->code(), Errc::bad_file);
  EXPECT_NE(error->message().find("a release is expected"), std::string::npos);
}

TEST(Family, TakesNumbersFromTheConfigurationAndDefaultsForTheRest) {
  const Program program = bound(config({{"width", 24}, {"hidden", {}}, {"depth", 5}}));
  EXPECT_EQ(number(program, "width"), 24);
  EXPECT_EQ(number(program, "layers"), 2);
  EXPECT_EQ(number(program, "hidden"), 48) << "null says the same as nothing";
  EXPECT_EQ(number(program, "text.depth"), 5) << "found where it used to stand";
  EXPECT_EQ(*program.config.find("text")->find("depth")->as_integer(), 5);
  EXPECT_EQ(number(bound(config({})), "text.depth"), 2);
}

/// With images of any size, of which one that is wider than high goes another way.
std::string of_images() {
  std::string text = with(tiny_family(), "key width = 64\n", "key width = 64\nkey vision_config.patch_size = 16\n");
  text = with(text, "sizes B=2 S=", "sizes images=2 grid_h=8 grid_w=12 B=2 S=");
  text = with(text, "S > window\n", "grid_w > grid_h\n");
  return with(text, "S <= window\n", "grid_w <= grid_h\n");
}

TEST(Family, PatchesFollowFromTheSizeOfImages) {
  const auto read = [](std::int64_t height, std::int64_t width) {
    const FamilyUse use{
        .context = {.use_cache = false}, .seq = 8, .images = 1, .image_height = height, .image_width = width};
    return io::read_family_text(of_images(), "tiny", config({}), use);
  };
  EXPECT_EQ(number(read(320, 160), "grid_h"), 20);
  EXPECT_EQ(number(read(320, 160), "grid_w"), 10);
  EXPECT_EQ(number(read(0, 0), "grid_w"), 12) << "those of the capture where nobody says";
  EXPECT_NE(read(320, 160).main, read(160, 320).main);
  EXPECT_EQ(read(320, 160).main, read(320, 320).main);
}

TEST(Family, OfPatchesThatTokensAreMadeOfThereIsAUsualNumber) {
  const std::string text = with(of_images(), "key vision_config.patch_size = 16\n",
                                "key vision_config.patch_size = 16\nkey vision_config.spatial_merge_size = 2\n");
  const auto patches = [&](std::int64_t height, std::int64_t width) {
    const FamilyUse use{
        .context = {.use_cache = false}, .seq = 8, .images = 1, .image_height = height, .image_width = width};
    const Program program = io::read_family_text(text, "tiny", config({}), use);
    return std::vector{number(program, "grid_h"), number(program, "grid_w")};
  };
  EXPECT_EQ(patches(320, 160), (std::vector<std::int64_t>{20, 10}));
  EXPECT_EQ(patches(100, 116), (std::vector<std::int64_t>{6, 7}));
  EXPECT_EQ(patches(1, 16), (std::vector<std::int64_t>{1, 1})) << "a patch at least";
  EXPECT_EQ(patches(0, 0), (std::vector<std::int64_t>{70, 70})) << "1,280 tokens at most";
}

TEST(Family, WhatIsDoneForEachChunkOfATextIsWrittenOutForItsLength) {
  const std::string line = "  %0: T[B, S, 64] = call embed: Embedding#1(0=$input_ids)\n";
  const std::string rounds = line +
                             "  %1[0]: T[B, S, 64] = torch.abs(%0)\n  each i in 1..ceildiv(S, 4) - 1:\n    %1[i]: T[B, "
                             "S, 64] = torch.abs(%1[i - 1])\n    del %1[i - 1]\n";
  const std::string text =
      with(tiny_family(), line + "  return logits=%0\n", rounds + "  return logits=%1[ceildiv(S, 4) - 1]\n");
  const auto statements = [&](std::int64_t seq) {
    const Program program =
        io::read_family_text(text, "tiny", config({{"window", 4096}}), {.context = {.use_cache = false}, .seq = seq});
    return program.bodies.at(program.main).statements.size();
  };
  EXPECT_EQ(statements(4), 3u);
  EXPECT_EQ(statements(5), 5u);
  EXPECT_EQ(statements(16), 9u);
  EXPECT_EQ(statements(0), 3u + 2 * (kUsualTokens / 4 - 1)) << "as long as texts usually are";
}

TEST(Family, TiesWhatTheConfigurationTies) {
  EXPECT_EQ(bound(config({})).root.children[2].parameters[0].tied_to, "embed.weight");
  EXPECT_EQ(bound(config({{"tie", false}})).root.children[2].parameters[0].tied_to, "");
}

TEST(Family, BeginsWithTheBodyWhoseConditionsHoldAndReadsNoOther) {
  const Program longer = bound(config({}));
  EXPECT_EQ(longer.main, "TinyForCausalLM#1");
  EXPECT_EQ(longer.attention, "sdpa");
  EXPECT_FALSE(longer.bodies.contains("TinyForCausalLM#2"));
  const Program within = bound(config({{"window", 8}}));
  EXPECT_EQ(within.main, "TinyForCausalLM#2");
  EXPECT_EQ(within.bodies.size(), 2U);
}

TEST(Family, SaysWhatItDoesNotHoldFor) {
  EXPECT_EQ(refusal(config({{"act", "silu"}})),
            "the program of tiny holds for act in [\"gelu\", \"relu\"] alone, and act is \"silu\"");
  EXPECT_EQ(refusal(config({{"hidden_act", "silu"}})),
            "the program of tiny holds for act in [\"gelu\", \"relu\"] alone, and act is \"silu\"");
  EXPECT_EQ(refusal(config({{"dropout", 0.0}})), "the program of tiny holds for dropout > 0.0 alone, and dropout is 0");
  EXPECT_EQ(refusal(config({{"kinds", Value::List{"a", "a"}}})),
            "the program of tiny holds for kinds cycles [\"a\", \"b\"] alone, and kinds is a list");
  bound(config({{"parts", Value::List{"a", "b", "c", "b"}}}));
  EXPECT_EQ(refusal(config({{"parts", Value::List{"b", "b", "c"}}})),
            "the program of tiny holds for parts cycles [\"b\", \"c\"] after [\"a\"] alone, and parts is a list");
  bound(config({{"layers", 4}, {"some", Value::List{1, 2, 3}}}));
  for (const Value::List& other : {Value::List{0, 1}, Value::List{1, 2}, Value::List{1, 2, 3, 4}, Value::List{1, "2"}})
    EXPECT_EQ(refusal(config({{"layers", 4}, {"some", other}})),
              "the program of tiny holds for some numbers layers in [true] after [false] alone, and some is a list");
  EXPECT_EQ(refusal(config({{"hidden", 12}})), "the program of tiny holds for hidden % 8 == 0 alone, and hidden is 12");
  EXPECT_EQ(refusal(config({}), {.context = {.use_cache = true}, .seq = 8}),
            "the program of tiny does not hold for attention sdpa, cache true, 8 tokens");
  EXPECT_EQ(refusal(config({{"window", {}}})),
            "the program of tiny does not hold for attention sdpa, cache false, 8 tokens");
  EXPECT_EQ(refusal(config({{"architectures", Value::List{"TinyForSequenceClassification"}}})),
            "the program of tiny is of TinyForCausalLM, not of TinyForSequenceClassification");
  EXPECT_EQ(refusal(config({}), {.context = {.use_cache = false}, .seq = 8, .head = "masked_lm"}),
            "the program of tiny is trained for causal_lm");
  EXPECT_EQ(refusal(config({}), {.context = {.use_cache = false}, .seq = 8, .shares = 2}),
            "the program of tiny does not hold for a part of the tokens of each sample");
}

TEST(Family, IsTrainedForWhatIsAskedForWhateverTheFileWasWrittenBy) {
  const Value written = config({{"architectures", Value::List{"TinyForSequenceClassification"}}});
  EXPECT_EQ(bound(written, {.context = {.use_cache = false}, .seq = 8, .head = "causal_lm"}).main, "TinyForCausalLM#1");
}

TEST(Family, HasNoNumberWhereAConfigurationSaysNone) {
  const std::string text = with(tiny_family(), "holds hidden % 8 == 0\n", "key pad = null\nholds pad >= 0\n");
  const FamilyUse use{.context = {.use_cache = false}, .seq = 8};
  io::read_family_text(text, "tiny", config({{"pad", 0}}), use);
  EXPECT_EQ(error_of([&] { io::read_family_text(text, "tiny", config({}), use); })->message(),
            "the program of tiny holds for pad >= 0 alone, and pad is null");
  const std::string of_a_part =
      with(tiny_family(), "holds hidden % 8 == 0\n", "key pad = null\nkey text.pad = 5\nholds text.pad >= 0\n");
  EXPECT_NO_THROW(io::read_family_text(of_a_part, "tiny", config({}), use)) << "another key's name ends likewise";
}

TEST(Family, OfATextThatGpusShareBeginsWithTheBodyThatTakesPositions) {
  std::string text =
      with(tiny_family(), "main TinyForCausalLM#1",
           "main TinyForCausalLM#2 when cache == false, positions == true, S <= window\nmain TinyForCausalLM#1");
  text = with(text, "input labels: int64[B, S]\n",
              "input labels: int64[B, S]\ninput position_ids: int64[B, S]\ninput shift_labels: int64[B, S]\n");
  FamilyUse use{.context = {.use_cache = false}, .seq = 8, .shares = 2};
  const Program shared = io::read_family_text(text, "tiny", config({}), use);
  EXPECT_EQ(shared.main, "TinyForCausalLM#2") << "4 tokens of each sample are here";
  EXPECT_EQ(shared.inputs.size(), 4U);
  use.shares = 1;
  const Program whole = io::read_family_text(text, "tiny", config({}), use);
  EXPECT_EQ(whole.main, "TinyForCausalLM#1");
  EXPECT_EQ(whole.inputs.size(), 2U);
}

TEST(Family, OfWhatMindsCheckpointingIsNoProgramUnderIt) {
  const std::string text = with(tiny_family(), "holds act in", "holds checkpointing == false\nholds act in");
  FamilyUse use{.context = {.use_cache = false}, .seq = 8};
  EXPECT_NO_THROW(io::read_family_text(text, "tiny", config({}), use));
  use.checkpointing = true;
  const auto refused = error_of([&] { io::read_family_text(text, "tiny", config({}), use); });
  EXPECT_THAT(refused->message(), testing::HasSubstr("checkpointing == false alone, and checkpointing is true"));
}

TEST(Family, OfWhatMindsAutocastBeginsWithTheBodyOfThatKind) {
  const std::string text =
      with(with(tiny_family(), "cache == false, S > window", "cache == false, autocast != \"other\""),
           "when cache == false, S <= window", "when cache == false, autocast == \"other\"");
  FamilyUse use{.context = {.use_cache = false}, .seq = 8};
  const auto main = [&](const char* autocast) {
    use.autocast = autocast;
    return io::read_family_text(text, "tiny", config({}), use).main;
  };
  EXPECT_EQ(main("false"), "TinyForCausalLM#1");
  EXPECT_EQ(main("own"), "TinyForCausalLM#1");
  EXPECT_EQ(main("other"), "TinyForCausalLM#2");

  const std::string alone = with(tiny_family(), "when cache == false, S <= window",
                                 "when attention == \"sdpa\", cache == false, autocast == false");
  use.autocast = "own";
  use.seq = 4;
  const auto refused = error_of([&] { io::read_family_text(alone, "tiny", config({}), use); });
  EXPECT_EQ(refused->message(), "the program of tiny holds for autocast == false alone, and autocast is \"own\"");
  EXPECT_EQ(refused->where(), "autocast");
  EXPECT_THAT(refused->hint(), testing::HasSubstr("\"own\" is autocast to the dtype of the weights"));
}

TEST(Family, AnswersByTheFirstOfItsProgramsThatHolds) {
  const FamilyUse use{.context = {.use_cache = false}, .seq = 8};
  const auto read = [&](const Value& config) { return io::read_family_text(built_in_two_ways(), "tiny", config, use); };
  EXPECT_EQ(number(read(config({})), "width"), 64);
  EXPECT_EQ(number(read(config({{"act", "silu"}})), "width"), 32);
  EXPECT_EQ(error_of([&] { read(config({{"act", "silu"}, {"dropout", 0.0}})); })->message(),
            "the program of tiny holds for act in [\"gelu\", \"relu\"] alone, and act is \"silu\"; "
            "the program of tiny holds for dropout > 0.0 alone, and dropout is 0");
}

TEST(Family, NamesTheLineOfTheFileInItsSecondProgram) {
  const std::string text = with(built_in_two_ways() + "\n", "key width = 32\n", "key width 32\n");
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("key width 32")), '\n');
  const FamilyUse use{.context = {.use_cache = false}, .seq = 8};
  EXPECT_EQ(error_of([&] { io::read_family_text(text, "tiny", config({{"act", "silu"}}), use); })->where(),
            "tiny:" + std::to_string(lines + 1));
}

TEST(Family, TakesAWholeNumberForARealOne) {
  EXPECT_EQ(number(bound(config({{"dropout", 1}})), "width"), 64);
  EXPECT_EQ(refusal(config({{"dropout", 0}})), "the program of tiny holds for dropout > 0.0 alone, and dropout is 0");
  EXPECT_EQ(refusal(config({{"act", 1}})),
            "the program of tiny holds for act in [\"gelu\", \"relu\"] alone, and act is 1");
}

TEST(Family, HoldsForListsThatGoRound) {
  EXPECT_EQ(bound(config({{"kinds", Value::List{"a", "b", "a"}}})).main, "TinyForCausalLM#1");
}

TEST(Family, CountsLayersOfAListThatSaysHowOftenTheirKindsCome) {
  const std::string text = with(tiny_family(), "holds hidden % 8 == 0\n",
                                "key types = [[[\"a\", \"b\"], 1]]\nholds types spells layers of [\"a\", \"b\"]\n");
  const auto read = [&](std::int64_t layers, Value::List types) {
    const Value of = config({{"layers", layers}, {"types", std::move(types)}});
    return error_of([&] { io::read_family_text(text, "tiny", of, {.context = {.use_cache = false}, .seq = 8}); });
  };
  const auto some = [](Value::List kinds, Value times) {
    return Value(Value::List{std::move(kinds), std::move(times)});
  };
  EXPECT_FALSE(read(5, {some({"a", "b"}, 2), some({"b"}, 1)}));
  const auto fewer = read(5, {some({"a", "b"}, 2)});
  EXPECT_EQ(fewer->message(), "it names 4 layers, and there are 5");
  EXPECT_EQ(fewer->where(), "config.json: types");
  const std::string refused =
      "the program of tiny holds for types spells layers of [\"a\", \"b\"] alone, and types is a list";
  for (const Value& other :
       {some({"c"}, 5), some({"a"}, -5), some({"a"}, "5"), some({}, {}), Value("a"), Value(Value::List{5, 5})})
    EXPECT_EQ(read(5, {other})->message(), refused);
}

/// Of layers whose kinds may be in any order.
Program of_kinds(const Value::Map& keys) {
  const std::string list =
      "  mixed: nn.ModuleList\n"
      "    0..mixers.count - 1 of mixers \"a\": Odd\n      param a: T[2]\n"
      "    0..mixers.count - 1 of mixers \"b\": Even\n      param b: T[3]\n";
  const std::string text =
      with(with(tiny_family(), "  head: nn.Linear\n", list + "  head: nn.Linear\n"), "holds hidden % 8 == 0\n",
           "key mixers = [\"a\", \"b\"]; null; older {\"old\": \"a\"}; also blocks; letters pattern {\"A\": \"a\", "
           "\"*\": \"b\", \"-\": \"c\"}\n"
           "holds mixers of [\"a\", \"b\", \"c\"] with [\"b\"]\n");
  return io::read_family_text(text, "tiny", config(keys), {.context = {.use_cache = false}, .seq = 8});
}

TEST(Family, TakesKindsOfLayersInAnyOrder) {
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(of_kinds({}).orders.at("mixers"), (Kinds{"a", "b"}));
  const Program four = of_kinds({{"mixers", Value::List{"c", "b", "a", "b"}}, {"pattern", "AA"}});
  EXPECT_EQ(four.orders.at("mixers"), (Kinds{"c", "b", "a", "b"}));
  EXPECT_EQ(number(four, "mixers.count"), 4);
  EXPECT_EQ(of_kinds({{"blocks", Value::List{"b"}}}).orders.at("mixers"), Kinds{"b"});
  EXPECT_EQ(of_kinds({{"blocks", Value::List{"old", "b"}}}).orders.at("mixers"), (Kinds{"a", "b"}));
  EXPECT_EQ(of_kinds({{"pattern", "AA*-"}}).orders.at("mixers"), (Kinds{"a", "a", "b", "c"}));
  EXPECT_EQ(error_of([] { of_kinds({{"pattern", "AA*E"}}); })->message(), "a letter of \"AA*E\" stands for no layer");
  const std::string refused =
      "the program of tiny holds for mixers of [\"a\", \"b\", \"c\"] with [\"b\"] alone, and mixers is a list";
  for (const Value::List& kinds : {Value::List{"a", "c"}, Value::List{"b", "d"}, Value::List{"b", 1}, Value::List{}})
    EXPECT_EQ(error_of([&] { of_kinds({{"mixers", kinds}}); })->message(), refused);
}

TEST(Family, ModulesAreOfTheKindsThatAListSays) {
  const auto names_of = [](const Value::List& mixers) {
    const Program program = of_kinds({{"mixers", mixers}});
    const std::unique_ptr<Model> model = make_program_model(program, {.use_cache = false}, Dtype::f16, true);
    std::vector<std::string> names;
    visit_parameters(model->root, [&](const Module& module, const Parameter& parameter) {
      if (const std::string name = full_name(module, parameter); name.starts_with("mixed")) names.push_back(name);
    });
    return names;
  };
  EXPECT_THAT(names_of({"a", "b", "b"}), testing::ElementsAre("mixed.0.a", "mixed.1.b", "mixed.2.b"));
  EXPECT_THAT(names_of({"b", "a"}), testing::ElementsAre("mixed.0.b", "mixed.1.a"));
  EXPECT_EQ(error_of([&] { names_of({"b", "c"}); })->message(), "no module of c");
}

/// Of layers that a list has by number.
std::string with_numbered_layers() {
  return with(tiny_family(), "holds hidden % 8 == 0\n", "key taken = [1, 3]\nholds taken rises 2 below layers + 3\n");
}

TEST(Family, TakesNumbersFromWithinAList) {
  const FamilyUse use{.context = {.use_cache = false}, .seq = 8};
  const auto read = [&](Value::List taken) {
    return io::read_family_text(with_numbered_layers(), "tiny", config({{"taken", std::move(taken)}}), use);
  };
  const Program usual = io::read_family_text(with_numbered_layers(), "tiny", config({}), use);
  EXPECT_EQ(number(usual, "taken.0"), 1);
  EXPECT_EQ(number(usual, "taken.1"), 3);
  EXPECT_EQ(number(usual, "taken.count"), 2);
  EXPECT_EQ(number(read({0, 4}), "taken.1"), 4);
  const std::string refused = "the program of tiny holds for taken rises 2 below layers + 3 alone, and taken is a list";
  for (const Value::List& taken : {Value::List{3, 1}, Value::List{1, 1}, Value::List{-1, 1}, Value::List{1, 5},
                                   Value::List{1}, Value::List{1, 2, 3}, Value::List{1, "2"}, Value::List{}})
    EXPECT_EQ(error_of([&] { read(taken); })->message(), refused);
}

TEST(Family, ANumberMayBeSaidForEachLayer) {
  const Value::List alike{Value(std::int64_t{24}), Value(std::int64_t{24})};
  EXPECT_EQ(number(bound(config({{"width", alike}})), "width"), 24);
  const Value::List others{Value(std::int64_t{24}), Value(std::int64_t{32})};
  EXPECT_TRUE(error_of([&] { bound(config({{"width", others}})); })) << "layers of several widths are no one number";
}

}  // namespace
}  // namespace tidemark
