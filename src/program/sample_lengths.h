// How long a sample is: its tokens, or samples of raw audio, and the tokens of its label.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace tidemark {

struct Program;

/// Samples per second.  transformers: Wav2Vec2FeatureExtractor and WhisperFeatureExtractor, sampling_rate (5.24.0)
inline constexpr std::int64_t kSamplingRate = 16000;
/// Seconds of raw audio where a question has none.
inline constexpr double kUsualAudioSeconds = 10;

/// Lengths in a question; 0: none.
struct AskedLengths {
  std::int64_t seq = 0, target = 0;
  double audio_seconds = 0;
};

struct SampleLengths {
  std::int64_t seq = 0, target = 0;
};

/// The meaning of the sizes S and target of a program, by the inputs of its header.
struct SampleCount {
  bool takes_text = false, takes_raw_audio = false, has_target = false;

  /// `input` is what stands behind "input ": "input_values: T[B, S]".
  void add(std::string_view input);

  /// Whether S is the length of the label: the model takes neither text nor raw audio.
  bool is_of_label_alone() const { return !takes_text && !takes_raw_audio && has_label_of_seq_; }

 private:
  bool has_label_of_seq_ = false;
};

/// The sizes S and target.  Throws Error{bad_value} where two of a question contradict each other, and
/// Error{unsupported} for a target of a program that has none.
SampleLengths sample_lengths(const SampleCount& count, const Value& config, const AskedLengths& asked);

/// One sentence for each length that the question does not have.
std::vector<std::string> assumed_lengths(const SampleCount& count, const AskedLengths& asked,
                                         const SampleLengths& lengths);

/// The effect of a duration, or nothing for 0 seconds.  Throws Error{bad_value} for a model without raw audio or
/// windows of audio, and for more than a window.
std::string note_of_audio(const Program& program, std::span<const std::int64_t> symbols, double seconds);

}  // namespace tidemark
