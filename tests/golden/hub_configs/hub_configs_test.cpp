// Configurations from the hub and in old and new spellings: read as transformers' AutoConfig reads them.
#include "base/error.h"
#include "estimate/reference_config.h"
#include "found_configs.h"

namespace tidemark {
namespace {

std::string name_of_row(const testing::TestParamInfo<Value>& row) {
  std::string name = text_of(row.param, "name");
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

class OnTheHub : public testing::TestWithParam<Value> {};

TEST_P(OnTheHub, HasTheParametersThatTransformersMakesOfIt) {
  const ReferenceConfig read = as_transformers_reads(*GetParam().find("config"));
  const auto model = model_at_hand(read.config, text_of(GetParam(), "head"));
  std::int64_t count = 0;
  visit_parameters(model->root, [&](const Module&, Parameter& one) { count += elements_of(one.sizes); });
  EXPECT_EQ(count, *GetParam().find("parameters")->as_integer());
}

TEST_P(OnTheHub, IsPredicted) {
  const Report report = short_training(with_few_layers(*GetParam().find("config")), text_of(GetParam(), "head"));
  EXPECT_GT(report.peak.allocated_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(HubConfigs, OnTheHub, testing::ValuesIn(recorded_rows("hub.txt.gz")), name_of_row);

class Spelling : public testing::TestWithParam<Value> {};

/// Its peaks; or what the family's program does not hold for.
std::string peaks_of(const Value& config, const std::string& head) {
  Spec spec;
  spec.head = head;
  try {
    shipped_program_of(spec, config);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    return error.message();
  }
  const Peak peak = short_training(config, head).peak;
  return fmt::format("{} {} {}", peak.allocated_bytes, peak.reserved_bytes, peak.requested_bytes);
}

TEST_P(Spelling, MeansWhatThePlainOneMeans) {
  const std::string& head = text_of(GetParam(), "head");
  EXPECT_EQ(peaks_of(*GetParam().find("config"), head), peaks_of(*GetParam().find("plain"), head));
}

INSTANTIATE_TEST_SUITE_P(Release4, Spelling, testing::ValuesIn(recorded_rows("spellings_4.txt.gz")), name_of_row);
INSTANTIATE_TEST_SUITE_P(Release5, Spelling, testing::ValuesIn(recorded_rows("spellings_5.txt.gz")), name_of_row);

Value small_llama() {
  return io::value_from_json(R"({"model_type": "llama", "vocab_size": 100, "hidden_size": 64, "intermediate_size": 96,
                                 "num_hidden_layers": 1, "num_attention_heads": 4})",
                             "test");
}

std::string assumptions_of(const Value& config) {
  std::string text;
  for (const Assumption& one : short_training(config).assumptions) text += one.what + "\n";
  return text;
}

TEST(Keys, ThatNothingReadsAreListedOnceAndChangeNothing) {
  Value config = small_llama();
  const std::int64_t before = short_training(config).peak.allocated_bytes;
  config.set("use_mrope", false);
  config.set("head_dims", 128);
  EXPECT_EQ(short_training(config).peak.allocated_bytes, before);
  EXPECT_NE(assumptions_of(config).find("does not read use_mrope, head_dims (head_dim?), so"), std::string::npos)
      << assumptions_of(config);
}

TEST(Keys, ThatTransformersReadsAndWeDoNotAreErrorsByName) {
  for (const auto& [key, value, told] : {std::tuple<std::string, Value, std::string>{"attention_chunk_size", 8, "8"},
                                         {"gradient_checkpointing", true, "true"}}) {
    Value config = small_llama();
    config.set(key, value);
    try {
      short_training(config);
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::unsupported);
      EXPECT_EQ(error.message(), "the program of llama was captured without " + key + ", which is " + told);
    }
  }
}

TEST(Keys, ThatSayTheDefaultAreAsIfAbsent) {
  Value config = small_llama();
  for (const auto& [key, value] : Value::Map{{"attention_chunk_size", Value()}, {"gradient_checkpointing", false}})
    config.set(key, value);
  EXPECT_EQ(assumptions_of(config), assumptions_of(small_llama()));
}

TEST(Keys, OfAPartAreNamedWithIt) {
  Value config =
      io::value_from_json(R"({"model_type": "llava", "text_config": {"model_type": "llama", "num_hidden_layers": 1},
                                         "vision_config": {"num_hidden_layers": 1, "vocab_size": 32000}, "vocab_size": 32064})",
                          "test");
  EXPECT_NE(assumptions_of(config).find("does not read vision_config.vocab_size, vocab_size, so"), std::string::npos)
      << assumptions_of(config);
}

TEST(Quantized, Fp8IsTrainedDequantizedAndOthersAreRefused) {
  Value config = small_llama(), quantization = Value::Map();
  const std::int64_t before = short_training(config).peak.allocated_bytes;
  quantization.set("quant_method", "fp8");
  config.set("quantization_config", quantization);
  EXPECT_EQ(short_training(config).peak.allocated_bytes, before);
  EXPECT_NE(assumptions_of(config).find("dequantize"), std::string::npos);
  quantization.set("quant_method", "gptq");
  config.set("quantization_config", quantization);
  EXPECT_THROW(short_training(config), Error);
}

}  // namespace
}  // namespace tidemark
