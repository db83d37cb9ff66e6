#include "base/fields.h"

#include <gtest/gtest.h>

#include <array>

#include "support/throws.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 3> kFlavours{"none", "auto", "true"};
enum class Flavour { none, automatic, yes };

struct Adapter {
  std::int64_t r = 8;
  static void fields(Adapter& self, const FieldVisitor& visit) {
    visit("r", self.r, FieldInfo{.help = "rank", .low = 1, .high = 100});
  }
  static KeyNames harmless() { return {"inference_mode"}; }
};

struct Config {
  std::int64_t width = 4;
  double rate = 0.5;
  bool tied = false;
  std::string size = "0";
  Flavour flavour = Flavour::automatic;
  std::optional<double> norm;
  std::vector<std::string> frozen;
  TextOrList targets;
  std::optional<Adapter> adapter;
  Value model;
  std::map<std::string, std::int64_t> sizes;

  static void fields(Config& self, const FieldVisitor& visit) {
    visit("width", self.width, FieldInfo{.help = "how wide", .low = 1});
    visit("rate", self.rate, FieldInfo{.help = "how fast", .low = 0, .high = 1});
    visit("tied", self.tied, FieldInfo{.help = "tied?"});
    visit("size", self.size, FieldInfo{.help = "of an image", .number_is_text = true});
    visit("flavour", self.flavour, FieldInfo{.help = "which", .names = kFlavours});
    visit("norm", self.norm, FieldInfo{.help = "most", .low = 0});
    visit("frozen", self.frozen, FieldInfo{.help = "names"});
    visit("targets", self.targets, FieldInfo{.help = "names or a pattern"});
    visit("adapter", self.adapter, FieldInfo{.help = "adapter"});
    visit("model", self.model, FieldInfo{.help = "anything"});
    visit("sizes", self.sizes, FieldInfo{.help = "by name", .low = 1});
  }
};

std::string refusal(const Value& value) {
  Config config;
  const auto error = error_of([&] { read_fields(value, config, "c.json"); });
  return error ? error->what() : "no error";
}

TEST(Fields, LeavesWhatIsNotSaid) {
  Config config;
  config.width = 7;
  read_fields(Value::Map{{"rate", 1}}, config);
  EXPECT_EQ(config.width, 7);
  EXPECT_EQ(config.rate, 1.0);
  EXPECT_FALSE(config.adapter);
}

TEST(Fields, GivesBackWhatItWrote) {
  Config config{9,
                0.25,
                true,
                "3x4",
                Flavour::yes,
                1.0,
                {"a", "b"},
                std::vector<std::string>{"q"},
                Adapter{16},
                Value::Map{{"x", 1}},
                {{"one", 1}, {"two", 2}}};
  const Value written = write_fields(config);
  Config again;
  read_fields(written, again);
  EXPECT_EQ(write_fields(again), written);
  EXPECT_EQ(again.adapter->r, 16);
  EXPECT_EQ(again.flavour, Flavour::yes);
}

TEST(Fields, TakesANumberForATextWhereThatIsMeant) {
  Config config;
  read_fields(Value::Map{{"size", 336}}, config);
  EXPECT_EQ(config.size, "336");
}

TEST(Fields, TakesTrueAndNullForTheNamesThatLookLikeThem) {
  Config config;
  read_fields(Value::Map{{"flavour", true}}, config);
  EXPECT_EQ(config.flavour, Flavour::yes);
  read_fields(Value::Map{{"flavour", Value()}}, config);
  EXPECT_EQ(config.flavour, Flavour::none);
}

TEST(Fields, SaysWhatIsWrong) {
  EXPECT_EQ(refusal(Value::Map{{"widht", 1}}), "c.json: \"widht\" is not a known key (did you mean width?)");
  EXPECT_EQ(refusal(Value::Map{{"width", 0}}), "c.json: width: expected a number at least 1, found 0");
  EXPECT_EQ(refusal(Value::Map{{"rate", 2}}), "c.json: rate: expected a number between 0 and 1, found 2");
  EXPECT_EQ(refusal(Value::Map{{"flavour", "autoo"}}),
            "c.json: flavour: \"autoo\" is not one of none, auto, true (did you mean auto?)");
  EXPECT_EQ(refusal(Value::Map{{"frozen", Value::List{"a", 1.5}}}),
            "c.json: frozen[1]: expected a text, found the number 1.5 (write it in quotes)");
  EXPECT_EQ(refusal(Value::Map{{"adapter", Value::Map{{"r", "x"}}}}),
            "c.json: adapter.r: expected a whole number, found \"x\"");
  EXPECT_EQ(refusal(Value::Map{{"sizes", Value::Map{{"a", 0}}}}),
            "c.json: sizes.a: expected a number at least 1, found 0");
  EXPECT_EQ(refusal(Value::Map{{"sizes", 3}}), "c.json: sizes: expected a map, found 3");
  EXPECT_EQ(refusal(Value::List{}), "c.json: expected a map, found a list");
}

TEST(Fields, SaysWhereAPartOfAFileStands) {
  Config config;
  const auto error = error_of([&] { read_fields(Value::Map{{"width", 0}}, config, {"c.json", "text_config"}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), "c.json: text_config.width");
}

TEST(Fields, PassesOverHarmlessKeysOfEachLevel) {
  Config config;
  const Value value = Value::Map{{"adapter", Value::Map{{"inference_mode", true}, {"_x", 1}}}};
  EXPECT_THROW(read_fields(value, config), Error);
  EXPECT_NO_THROW(read_fields(value, config, {}, {"_*"}));
  EXPECT_THROW(read_fields(Value(Value::Map{{"inference_mode", true}}), config), Error);
}

TEST(Fields, DescribesItself) {
  const auto fields = describe_fields<Config>();
  ASSERT_EQ(fields.size(), 11U);
  EXPECT_EQ(fields[0].kind, FieldKind::integer);
  EXPECT_EQ(fields[0].initial, Value(4));
  EXPECT_EQ(fields[4].kind, FieldKind::choice);
  EXPECT_EQ(fields[4].initial, Value("auto"));
  EXPECT_TRUE(fields[5].optional);
  EXPECT_EQ(fields[5].kind, FieldKind::real);
  EXPECT_EQ(fields[6].element, FieldKind::text);
  EXPECT_EQ(fields[8].kind, FieldKind::map);
  ASSERT_EQ(fields[8].fields.size(), 1U);
  EXPECT_EQ(fields[8].fields[0].initial, Value(8));
  EXPECT_EQ(fields[10].kind, FieldKind::named);
  EXPECT_EQ(fields[10].element, FieldKind::integer);
}

TEST(ValueFromText, ReadsWhatTheFieldIs) {
  const auto fields = describe_fields<Config>();
  EXPECT_EQ(value_from_text(fields[0], "12", "--width"), Value(12));
  EXPECT_EQ(value_from_text(fields[5], "none", "--norm"), Value());
  EXPECT_EQ(value_from_text(fields[6], "a,b", "--frozen"), (Value::List{"a", "b"}));
  EXPECT_EQ(value_from_text(fields[7], "q_proj,v_proj", "--targets"), (Value::List{"q_proj", "v_proj"}));
  EXPECT_EQ(value_from_text(fields[7], "all-linear", "--targets"), Value("all-linear"));
  const auto error = error_of([&] { value_from_text(fields[0], "1x", "--width"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "--width: expected a whole number, found \"1x\"");
  EXPECT_THROW(value_from_text(fields[0], "0", "--width"), Error);
  EXPECT_THROW(value_from_text(fields[1], "inf", "--rate"), Error);
}

TEST(ValueFromText, ReadsListsOfNumbers) {
  const FieldDescription field{
      .name = "layers", .kind = FieldKind::list, .element = FieldKind::integer, .info = {.low = 0, .high = 9}};
  EXPECT_EQ(value_from_text(field, "8,0,9", "--layers"), (Value::List{8, 0, 9}));
  EXPECT_THROW(value_from_text(field, "8,x", "--layers"), Error);
  EXPECT_THROW(value_from_text(field, "8,10", "--layers"), Error);
}

}  // namespace
}  // namespace tidemark
