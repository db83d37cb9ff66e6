#include "estimate/spec.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark {
namespace {

Value map(Value::Map items) { return items; }

std::string refusal(const Value& value) {
  const auto error = error_of([&] { read_spec(value, "s.yaml"); });
  return error ? error->what() : "no error";
}

TEST(Spec, HasDefaultsThatPass) {
  const Spec spec = read_spec(map({}));
  EXPECT_EQ(spec.batch, 1);
  EXPECT_EQ(spec.optimizer, OptimizerName::adamw);
  EXPECT_EQ(spec.torch, "");
}

TEST(Spec, ReadsEverything) {
  const Spec spec = read_spec(map({{"model", "llava/config.json"},
                                   {"batch", 16},
                                   {"image_size", "1080x1920"},
                                   {"images", 1},
                                   {"dtype", "fp32"},
                                   {"autocast", "bf16"},
                                   {"max_grad_norm", 1},
                                   {"freeze", Value::List{"vision_tower"}},
                                   {"use_cache", false},
                                   {"lora", map({{"r", 16}, {"target_modules", "all-linear"}})}}));
  EXPECT_EQ(*spec.model.as_text(), "llava/config.json");
  EXPECT_EQ(parse_image_size(spec.image_size), (ImageSize{1080, 1920}));
  EXPECT_EQ(spec.autocast, Autocast::bf16);
  EXPECT_EQ(spec.max_grad_norm, 1.0);
  EXPECT_EQ(spec.use_cache, UseCache::no);
  ASSERT_TRUE(spec.lora);
  EXPECT_EQ(spec.lora->r, 16);
  EXPECT_EQ(std::get<std::string>(spec.lora->target_modules), "all-linear");
}

TEST(Spec, GivesBackWhatItWrote) {
  Spec spec;
  spec.lora = LoraSpec{};
  spec.lora->target_modules = std::vector<std::string>{"q_proj"};
  spec.model = map({{"model_type", "gpt2"}});
  spec.image_tokens = 576;
  const Value written = write_fields(spec);
  EXPECT_EQ(write_fields(read_spec(written)), written);
}

struct Case {
  const char* name;
  Value value;
  const char* says;
};

class SpecRefuses : public testing::TestWithParam<Case> {};

TEST_P(SpecRefuses, NamingTheField) { EXPECT_EQ(refusal(GetParam().value), std::string("s.yaml: ") + GetParam().says); }

INSTANTIATE_TEST_SUITE_P(
    , SpecRefuses,
    testing::Values(
        Case{"UnknownKey", map({{"bacth", 1}}), "\"bacth\" is not a known key (did you mean batch?)"},
        Case{"WrongType", map({{"batch", "many"}}), "batch: expected a whole number, found \"many\""},
        Case{"OutOfRange", map({{"batch", 0}}), "batch: expected a number between 1 and 1048576, found 0"},
        Case{"UnknownName", map({{"optimizer", "adamx"}}),
             "optimizer: \"adamx\" is not one of adamw, adam, sgd, adafactor, rmsprop, adagrad, adamw_8bit, "
             "paged_adamw_8bit, paged_adamw_32bit, lion_8bit, lion_32bit, paged_lion_8bit, paged_lion_32bit, "
             "transformers_adafactor (did you mean adamw?)"},
        Case{"WholeOnAGpuOfManyThatShareIt", map({{"gpus", 2}, {"parallel", "fsdp2"}, {"load", "device"}}),
             "load: a model of which each GPU has a part is not brought onto one whole (set load to to)"},
        Case{"OneModelOverSeveralGpus", map({{"gpus", 2}, {"parallel", "ddp"}, {"load", "device_map"}}),
             "load: device_map=\"auto\" lays one model over all GPUs (leave load out)"},
        Case{"TooManyTokens", map({{"batch", 1 << 20}, {"seq", 1 << 20}}),
             "batch: 1048576 samples of 1048576 tokens are more than 2^32 tokens"},
        Case{"TooManyPixels", map({{"batch", 1 << 20}, {"images", 1 << 16}, {"image_size", 65536}}),
             "image_size: 68719476736 images of 65536 x 65536 are more than 2^38 pixels"},
        Case{"ImagesLongerThanTheSequence", map({{"seq", 512}, {"images", 1}, {"image_tokens", 576}}),
             "seq: 1 images of 576 tokens do not fit into 512 tokens (seq counts the tokens of images too)"},
        Case{"ImageSize", map({{"image_size", "336 x 336"}}),
             "image_size: \"336 x 336\" is not the size of an image (write 336 or 1080x1920 (height x width), at most "
             "65536 each)"},
        Case{"OptionOfAnother", map({{"optimizer", "sgd"}, {"amsgrad", true}}),
             "amsgrad: sgd has no such option (it belongs to adamw and adam)"},
        Case{"NesterovWithoutMomentum", map({{"optimizer", "sgd"}, {"nesterov", true}}),
             "nesterov: it needs a momentum above 0"},
        Case{"NotFused", map({{"optimizer", "rmsprop"}, {"optimizer_impl", "fused"}}),
             "optimizer_impl: rmsprop has no such option (it belongs to adamw and adam and sgd and adagrad)"},
        Case{"Version", map({{"torch", "2.x"}}), "torch: \"2.x\" is not a version (write it as 2.11.0)"},
        Case{"CheckpointEvery", map({{"checkpoint_every", 2}}),
             "checkpoint_every: nothing is checkpointed (set checkpointing to non_reentrant or reentrant)"},
        Case{"CheckpointLayersOfNothing", map({{"checkpoint_layers", Value::List{"0"}}}),
             "checkpoint_layers: nothing is checkpointed (set checkpointing to non_reentrant or reentrant)"},
        Case{"CheckpointLayers",
             map({{"checkpointing", "reentrant"}, {"checkpoint_layers", Value::List{"0-3", "7-5"}}}),
             "checkpoint_layers: \"7-5\" is no layer and no range of layers (write 7 or 0-3, below 65536)"},
        Case{"CheckpointLayersTwice",
             map({{"checkpointing", "reentrant"}, {"checkpoint_every", 2}, {"checkpoint_layers", Value::List{3}}}),
             "checkpoint_layers: checkpoint_every chooses layers too (leave one of the two out)"},
        Case{
            "KeptInReentrant", map({{"checkpointing", "reentrant"}, {"checkpoint_save", Value::List{"mm"}}}),
            "checkpoint_save: torch keeps results of operators in non-reentrant checkpoints alone (set checkpointing to "
            "non_reentrant)"},
        Case{"NothingKept", map({{"checkpointing", "non_reentrant"}, {"checkpoint_save_layers", Value::List{"1"}}}),
             "checkpoint_save_layers: nothing is kept in them (say of which operators with checkpoint_save)"},
        Case{"KeptByShards",
             map({{"checkpointing", "non_reentrant"},
                  {"checkpoint_save", Value::List{"mm"}},
                  {"gpus", 2},
                  {"parallel", "zero3"}}),
             "checkpoint_save: it is known on one GPU, and with ddp (leave it out)"},
        Case{"Memory", map({{"memory", "80G"}}),
             "memory: \"80G\" is not a size: G could mean GB or GiB (write a number and a unit, such as 80GiB (binary) "
             "or 400GB (decimal))"},
        Case{"Model", map({{"model", 3}}), "model: expected a path or a map, found 3"},
        Case{"EmptyName", map({{"freeze", Value::List{""}}}),
             "freeze: an empty text is in every name (leave it out, or write part of a parameter's name)"},
        Case{"RankBehindTheLast", map({{"gpus", 4}, {"parallel", "ddp"}, {"rank", 4}}),
             "rank: of 4 GPUs the last is 3 (ranks count from 0)"},
        Case{"ZeroBesideAnother", map({{"gpus", 2}, {"parallel", "ddp"}, {"zero", map({})}}),
             "zero: they are options of zero1, zero2 and zero3 (set parallel to one of them)"},
        Case{"DdpBesideAnother", map({{"gpus", 2}, {"parallel", "zero2"}, {"ddp", map({})}}),
             "ddp: they are options of ddp (set parallel to ddp)"},
        Case{"OneImplementation", map({{"optimizer", "adamw_8bit"}, {"optimizer_impl", "loop"}}),
             "optimizer_impl: adamw_8bit has no such option (it belongs to adamw and adam)"},
        Case{"GeminiBesideAnother", map({{"gpus", 2}, {"parallel", "zero3"}, {"gemini", map({})}}),
             "gemini: they are options of gemini (set parallel to gemini)"},
        Case{
            "QuantizedAlone", map({{"quantization", map({})}}),
            "quantization: quantized weights are not trained (train adapters beside them: set lora, {} for its defaults; or "
            "name what else trains with train_only)"},
        Case{
            "QuantizedAloneByTheTrainer",
            map({{"quantization", map({})}, {"train_only", Value::List{"norm"}}, {"loop", "trainer"}}),
            "quantization: the Trainer does not train a quantized model without adapters (set lora, {} for its defaults)"},
        Case{
            "TwoKindsOfBits",
            map({{"quantization", map({{"load_in_8bit", true}, {"use_double_quant", true}})}, {"lora", map({})}}),
            "quantization.load_in_8bit: quant_type, use_double_quant, compute_dtype and quant_storage are of 4 bits (leave them out)"},
        Case{"ThresholdOfFourBits", map({{"quantization", map({{"threshold", 3}})}, {"lora", map({})}}),
             "quantization.threshold: it is of 8 bits (set load_in_8bit)"},
        Case{"QuantizedShards", map({{"quantization", map({})}, {"lora", map({})}, {"gpus", 2}, {"parallel", "zero3"}}),
             "quantization: it is known on one GPU, and with ddp (leave it out)"},
        Case{"InsideLora", map({{"lora", map({{"rank", 8}})}}), "lora: \"rank\" is not a known key"}),
    [](const auto& tested) { return tested.param.name; });

TEST(ImageSize, IsHeightAndWidth) {
  EXPECT_EQ(parse_image_size("336"), (ImageSize{336, 336}));
  EXPECT_EQ(parse_image_size("0"), (ImageSize{0, 0}));
  for (const char* text : {"", "x", "3x", "x3", "-1", "0x5", "1x2x3", "70000", "99999999999999999999"})
    EXPECT_THROW(parse_image_size(text), Error) << text;
}

}  // namespace
}  // namespace tidemark
