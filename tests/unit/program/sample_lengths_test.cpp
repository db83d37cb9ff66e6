#include "program/sample_lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "support/throws.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

SampleCount counted(const std::vector<std::string_view>& inputs) {
  SampleCount count;
  for (const std::string_view input : inputs) count.add(input);
  return count;
}

const SampleCount& text() {
  static const SampleCount kCount = counted({"input_ids: int64[B, S]", "labels: int64[B, S]"});
  return kCount;
}

const SampleCount& encoder_decoder() {
  static const SampleCount kCount = counted({"input_ids: int64[B, S]", "labels: int64[B, target]"});
  return kCount;
}

const SampleCount& raw_audio() {
  static const SampleCount kCount = counted({"input_values: T[B, S]", "labels: int64[B, ((S - 80)//960)]"});
  return kCount;
}

const SampleCount& whisper() {
  static const SampleCount kCount = counted({"input_features: T[B, 80, 3000]", "labels: int64[B, S]"});
  return kCount;
}

const Value kConfig = Value::Map{{"model_type", "tiny"}, {"max_position_embeddings", 1024}};

SampleLengths lengths(const SampleCount& count, const AskedLengths& asked) {
  return sample_lengths(count, kConfig, asked);
}

std::string refusal(const SampleCount& count, const AskedLengths& asked) {
  const auto error = error_of([&] { lengths(count, asked); });
  return error ? error->message() + " @ " + error->where() : "";
}

TEST(SampleLengths, RawAudioIsCountedInSamples) {
  EXPECT_EQ(lengths(raw_audio(), {}).seq, 160000);
  EXPECT_EQ(lengths(raw_audio(), {.audio_seconds = 2.5}).seq, 40000);
  EXPECT_EQ(lengths(raw_audio(), {.seq = 12345}).seq, 12345);
}

TEST(SampleLengths, TwoLengthsOfRawAudioAreAnError) {
  EXPECT_THAT(refusal(raw_audio(), {.seq = 80000, .audio_seconds = 5}), HasSubstr("both give the length"));
}

TEST(SampleLengths, TextIgnoresNoTarget) {
  EXPECT_EQ(lengths(text(), {.seq = 7}).seq, 7);
  EXPECT_EQ(lengths(text(), {}).seq, 1024);
  EXPECT_THAT(refusal(text(), {.seq = 7, .target = 5}), HasSubstr("tiny has no separate target length @ target_seq"));
}

TEST(SampleLengths, TargetIsAsLongAsItsSourceByDefault) {
  EXPECT_EQ(lengths(encoder_decoder(), {.seq = 96}).target, 96);
  EXPECT_EQ(lengths(encoder_decoder(), {}).target, 1024);
  const SampleLengths apart = lengths(encoder_decoder(), {.seq = 96, .target = 61});
  EXPECT_EQ(apart.seq, 96);
  EXPECT_EQ(apart.target, 61);
}

TEST(SampleLengths, TargetOfWhisperIsItsSeq) {
  EXPECT_EQ(lengths(whisper(), {.target = 61}).seq, 61);
  EXPECT_EQ(lengths(whisper(), {.seq = 61, .target = 61}).seq, 61);
  EXPECT_THAT(refusal(whisper(), {.seq = 60, .target = 61}), HasSubstr("both give the length of a label"));
}

}  // namespace
}  // namespace tidemark
