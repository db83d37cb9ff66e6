// generate() of a Spec, from the weights on.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "estimate/recorder.h"
#include "estimate/spec.h"
#include "nn/model.h"
#include "program/program.h"

namespace tidemark {

/// Error{unsupported} of a model type whose programs train alone.
Error no_generation_of(const std::string& model_type);

/// Tokens of a prompt: as asked for, else as many as the model takes beside the new ones, kUsualTokens at most.
std::int64_t prompt_tokens(const Spec& spec, const Value& model_config);

/// The programs of a new token, each from its bound size S on; `bound` reads one at spec.seq tokens.
/// Empty where the prompt's pass gives the only token.
std::vector<Program> decode_programs(const Spec& spec, const Value& model_config,
                                     const std::function<Program(const Spec&)>& bound);

/// Loads the weights, and generates spec.generate tokens.  Where that runs out of memory, `report` has no cache.
void run_generation(Run& run, Model& model, std::span<const Program> programs, const Spec& spec,
                    const Value& model_config, Recorder& recorder, GenerationReport& report);

}  // namespace tidemark
