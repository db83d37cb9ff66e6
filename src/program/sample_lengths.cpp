#include "program/sample_lengths.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "program/model.h"

namespace tidemark {
namespace {

const std::string& type_of(const Value& config) {
  static const std::string kNone = "the model";
  const Value* type = config.find("model_type");
  return type && type->as_text() ? *type->as_text() : kNone;
}

[[noreturn]] void refuse_two(std::string_view first, std::string_view second, std::string_view length) {
  throw Error(Errc::bad_value, fmt::format("{} and {} both give the length of {}", first, second, length),
              std::string(second), fmt::format("leave {} out", second));
}

/// Seconds of a spectrogram with a column for each 10 ms; 0 of a model that takes none.  transformers:
/// WhisperFeatureExtractor, hop_length (5.24.0)
double window_seconds(const Program& program, std::span<const std::int64_t> symbols) {
  constexpr double kColumnsOfSecond = 100;
  for (const InputDeclaration& input : program.inputs) {
    if (input.name != "input_features" || input.type.sizes.size() != 3) continue;
    const std::int64_t rows = input.type.sizes[1](symbols), columns = input.type.sizes[2](symbols);
    if (columns > rows) return static_cast<double>(columns) / kColumnsOfSecond;
  }
  return 0;
}

}  // namespace

void SampleCount::add(std::string_view input) {
  takes_text |= input.starts_with("input_ids:");
  takes_raw_audio |= input.starts_with("input_values:") && input.ends_with("[B, S]");
  has_target |= input == "labels: int64[B, target]";
  has_label_of_seq_ |= input == "labels: int64[B, S]";
}

SampleLengths sample_lengths(const SampleCount& count, const Value& config, const AskedLengths& asked) {
  if (count.takes_raw_audio && asked.seq > 0 && asked.audio_seconds > 0)
    refuse_two("seq", "audio_seconds", "a sample of raw audio");
  if (count.is_of_label_alone() && asked.seq > 0 && asked.target > 0 && asked.seq != asked.target)
    refuse_two("seq", "target_seq", "a label");
  if (asked.target > 0 && !count.has_target && !count.is_of_label_alone())
    throw Error(Errc::unsupported, fmt::format("the program of {} has no separate target length", type_of(config)),
                "target_seq", "leave target_seq out");
  if (count.takes_raw_audio) {
    const double seconds = asked.audio_seconds > 0 ? asked.audio_seconds : kUsualAudioSeconds;
    return {asked.seq > 0 ? asked.seq : std::llround(seconds * static_cast<double>(kSamplingRate)), 0};
  }
  const std::int64_t tokens =
      text_length(config, count.is_of_label_alone() && asked.target > 0 ? asked.target : asked.seq);
  return {tokens, asked.target > 0 ? asked.target : tokens};
}

std::vector<std::string> assumed_lengths(const SampleCount& count, const AskedLengths& asked,
                                         const SampleLengths& lengths) {
  std::vector<std::string> assumed;
  if (count.takes_raw_audio && asked.seq == 0 && asked.audio_seconds == 0)
    assumed.push_back(fmt::format("a sample is {:g} s of audio, {} samples at {} Hz, as --audio-seconds is missing",
                                  kUsualAudioSeconds, lengths.seq, kSamplingRate));
  else if (count.takes_text && asked.seq == 0)
    assumed.push_back(fmt::format("a sample has {} tokens, as --seq is missing", lengths.seq));
  else if (count.is_of_label_alone() && asked.seq == 0 && asked.target == 0)
    assumed.push_back(fmt::format("a label has {} tokens, as --target-seq is missing", lengths.seq));
  if (count.has_target && asked.target == 0)
    assumed.push_back(
        fmt::format("a label has as many tokens as its source, {}, as --target-seq is missing", lengths.target));
  return assumed;
}

std::string note_of_audio(const Program& program, std::span<const std::int64_t> symbols, double seconds) {
  if (seconds == 0) return "";
  if (program.count.takes_raw_audio) return fmt::format("{:g} s of audio are sampled at {} Hz", seconds, kSamplingRate);
  const double window = window_seconds(program, symbols);
  if (window == 0)
    throw Error(Errc::bad_value, fmt::format("{} takes no audio of a chosen duration", program.model_type),
                "audio_seconds", "leave audio_seconds out");
  if (seconds > window)
    throw Error(Errc::bad_value, fmt::format("{:g} s of audio are more than a window of {:g} s", seconds, window),
                "audio_seconds",
                has_size(program, "images") ? "count the windows of a sample with images"
                                            : "a sample is one window: cut longer audio");
  return fmt::format("{:g} s of audio are padded to a window of {:g} s, so audio_seconds changes nothing", seconds,
                     window);
}

}  // namespace tidemark
