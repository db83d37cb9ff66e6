#include "captured_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "active_python.h"
#include "base/error.h"
#include "estimate/generation.h"
#include "estimate/program.h"
#include "io/program_text.h"
#include "process.h"
#include "resources.h"
#include "shipped_program.h"

namespace tidemark::cli {
namespace {

std::vector<std::string> request_of(const Spec& spec, const Value& model_config, const std::filesystem::path& config) {
  std::vector<std::string> words{config.string(), "--batch", std::to_string(spec.batch)};
  const auto add = [&](const char* option, std::string_view value) {
    words.insert(words.end(), {option, std::string(value)});
  };
  if (spec.seq > 0) add("--seq", std::to_string(spec.seq));
  if (spec.target_seq > 0) add("--target-seq", std::to_string(spec.target_seq));
  if (spec.audio_seconds > 0) add("--audio-seconds", fmt::format("{}", spec.audio_seconds));
  if (spec.images > 0) add("--images", std::to_string(spec.images));
  if (spec.image_size != "0") add("--image-size", spec.image_size);
  if (spec.head != "auto") add("--head", spec.head);
  if (spec.attn != Attention::automatic) add("--attn", kAttentionNames[static_cast<std::size_t>(spec.attn)]);
  if (spec.experts_implementation != ExpertsImplementation::grouped_mm)
    add("--experts", kExpertsNames[static_cast<std::size_t>(spec.experts_implementation)]);
  add("--use-cache", context_of(spec, model_config).use_cache ? "true" : "false");
  if (spec.padding) words.emplace_back("--padded");
  if (const std::string autocast = autocast_of(spec); autocast != "false") add("--autocast", autocast);
  return words;
}

/// As a type that is not known is refused, and why that was not mended.
[[noreturn]] void refuse(const std::string& model_type, const std::string& refusal, const std::string& why) {
  if (!refusal.empty()) throw Error(Errc::unsupported, refusal + ", and this configuration was not captured: " + why);
  std::vector<std::string> known;
  for (const auto& [type, heads] : shipped_model_types()) known.push_back(type);
  const Error error = no_program_of(model_type, known);
  throw Error(error.code(), error.message() + ", and it was not captured: " + why, error.where(), error.hint());
}

/// `python -m tidemark.capture` with these words.
Finished capture(const ActivePython& python, std::vector<std::string> words, const Environment& environment) {
  std::vector<std::string> command{python.interpreter.string(), "-m", "tidemark.capture"};
  std::move(words.begin(), words.end(), std::back_inserter(command));
  Environment changed = environment;
  changed.prepend("PYTHONPATH", find_resources().python.string());
  changed.set("TIDEMARK_BIN", std::filesystem::read_symlink("/proc/self/exe").string());
  return run_helper(command, changed);
}

}  // namespace

Program captured_model(const Spec& spec, const Value& model_config, const std::filesystem::path& config,
                       const std::string& refusal, const Environment& environment) {
  const std::string& model_type = model_type_of(model_config);
  if (spec.generate > 0) {
    const Error error = no_generation_of(model_type);
    throw Error(error.code(), refusal.empty() ? error.message() : refusal, error.where(), error.hint());
  }
  const auto python = active_python(environment);
  if (config.empty()) refuse(model_type, refusal, "it stands in no file of its own");
  if (const std::string why = what_lacks(python, {"torch", "transformers"}); !why.empty())
    refuse(model_type, refusal, why);
  const Finished done = capture(*python, request_of(spec, model_config, config), environment);
  if (done.exit_code != 0) refuse(model_type, refusal, reason_in(done.errors));
  return io::read_program_text(done.output, "the captured program");
}

Program captured_function(const std::string& source, const Value& spec, const Environment& environment) {
  if (source.find(".py:") == std::string::npos)
    throw Error(Errc::bad_value, fmt::format("{} names no function of a Python file", source), "--from",
                "such as model.py:build");
  const auto python = active_python(environment);
  if (const std::string why = what_lacks(python, {}); !why.empty())
    throw Error(Errc::unsupported, why, "--from", "activate one that has torch");
  std::vector<std::string> words{source};
  for (const char* size : {"batch", "seq", "images"}) {
    const Value* said = spec.find(size);
    const std::int64_t* number = said ? said->as_integer() : nullptr;
    if (number && *number > 0) words.insert(words.end(), {std::string("--") + size, std::to_string(*number)});
  }
  const Finished done = capture(*python, std::move(words), environment);
  if (done.exit_code == 0) return io::read_program_text(done.output, source);
  constexpr int kMistake = 2;  // python/tidemark/capture/mistakes.py
  throw Error(done.exit_code == kMistake ? Errc::bad_value : Errc::unsupported, reason_in(done.errors), "--from");
}

}  // namespace tidemark::cli
