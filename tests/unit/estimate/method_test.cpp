#include "estimate/method.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "estimate/asked.h"
#include "io/training_config.h"
#include "io/value_json.h"

namespace tidemark {
namespace {

Spec spec_with(const char* keys) { return read_spec(io::value_from_json(keys, "test")); }

TEST(Method, SetsDefaultsOfOtherFields) {
  const Spec spec = spec_with(R"({"method": "qlora"})");
  EXPECT_EQ(spec.quantization->quant_type, QuantType::nf4);
  EXPECT_EQ(spec.quantization->compute_dtype, WeightDtype::bf16);
  EXPECT_EQ(spec.checkpointing, Checkpointing::non_reentrant);
  EXPECT_EQ(std::get<std::string>(spec.lora->target_modules), "all-linear");
}

TEST(Method, FieldsOfTheSpecWin) {
  const Spec spec = spec_with(R"({"method": "qlora", "lora": {"r": 64}, "checkpointing": "none"})");
  EXPECT_EQ(spec.lora->r, 64);
  EXPECT_EQ(std::get<std::string>(spec.lora->target_modules), "all-linear");
  EXPECT_EQ(spec.checkpointing, Checkpointing::none);
}

TEST(Method, SeveralProcessesHaveNoDeviceMap) {
  EXPECT_EQ(spec_with(R"({"method": "trl-lora"})").load, Load::device_map);
  EXPECT_EQ(spec_with(R"({"method": "trl-lora", "gpus": 2, "parallel": "fsdp2"})").load, Load::to);
  EXPECT_EQ(spec_with(R"({"method": "trl-full", "gpus": 2, "parallel": "ddp"})").load, Load::to);
  EXPECT_EQ(text_of_method(Method::trl_full, false).find("device_map"), std::string::npos);
}

TEST(Method, DoraIsLoraWithMagnitudes) {
  for (const char* trainer : {"", "trl-", "transformers-"}) {
    Spec dora = spec_with(fmt::format(R"({{"method": "{}dora"}})", trainer).c_str());
    EXPECT_TRUE(dora.lora->use_dora);
    dora.lora->use_dora = false;
    Spec lora = spec_with(fmt::format(R"({{"method": "{}lora"}})", trainer).c_str());
    lora.method = dora.method;
    EXPECT_TRUE(dora == lora) << trainer;
  }
}

TEST(Method, OfPartsNamesThem) {
  EXPECT_EQ(spec_with(R"({"method": "projector"})").train_only,
            std::vector<std::string>{"projector|merger|connector|aligner|modality_projection"});
  EXPECT_EQ(spec_with(R"({"method": "freeze-vision"})").freeze,
            std::vector<std::string>{"vision|visual|image_encoder"});
  EXPECT_EQ(text_of_method(Method::freeze_vision, true), "freeze vision|visual|image_encoder");
}

TEST(Method, EveryOneIsASpec) {
  for (const std::string_view name : kMethodNames)
    EXPECT_NO_THROW(read_spec(Value::Map{{"method", std::string(name)}})) << name;
}

TEST(Method, UnknownNameIsAnError) { EXPECT_THROW(spec_with(R"({"method": "loar"})"), Error); }

/// The spec of a trainer's file, without its batch and its data.
Spec spec_of_file(const char* text) {
  const Value keys = io::value_from_json(text, "file");
  const io::TrainingFormat* format = io::recognised_format(keys);
  const Value config = Value::Map{{"model_type", "llama"}, {"dtype", "bfloat16"}};
  const io::TrainingFiles files{.read = {}, .model_config = [&](const std::string&) { return config; }};
  Spec spec = read_spec(io::read_training_config(*format, keys, "file", files).spec);
  spec.seq = spec.steps = 0, spec.batch = 1;
  return spec;
}

struct OfTrainer {
  const char *method, *file;
};

class MethodOfTrainer : public testing::TestWithParam<OfTrainer> {};

TEST_P(MethodOfTrainer, IsWhatItsFileMeans) {
  Spec spec = spec_with(GetParam().method), of_file = spec_of_file(GetParam().file);
  spec.method = Method::none, spec.seq = spec.steps = 0;
  EXPECT_TRUE(spec == of_file) << io::value_to_json(write_fields(spec)) << io::value_to_json(write_fields(of_file));
}

INSTANTIATE_TEST_SUITE_P(
    Trainers, MethodOfTrainer,
    testing::Values(OfTrainer{R"({"method": "trl-full"})",
                              R"({"model_name_or_path": "m", "dataset_name": "d", "dtype": "bfloat16"})"},
                    OfTrainer{R"({"method": "trl-lora"})",
                              R"({"model_name_or_path": "m", "dataset_name": "d", "dtype": "bfloat16", "use_peft": true,
                      "lora_target_modules": "all-linear"})"},
                    OfTrainer{R"({"method": "trl-qlora"})",
                              R"({"model_name_or_path": "m", "dataset_name": "d", "dtype": "bfloat16", "use_peft": true,
                      "load_in_4bit": true, "use_bnb_nested_quant": true, "lora_target_modules": "all-linear"})"},
                    OfTrainer{R"({"method": "transformers-full"})",
                              R"({"output_dir": "o", "per_device_train_batch_size": 1, "bf16": true})"}));

}  // namespace
}  // namespace tidemark
