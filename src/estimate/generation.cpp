#include "estimate/generation.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/generation_config.h"
#include "estimate/program.h"
#include "generation/greedy.h"
#include "program/model.h"

namespace tidemark {
namespace {

Spec of_token(Spec spec, std::int64_t tokens) {
  spec.head = "decode";
  // transformers: generation/utils.py, GenerationMixin._optimize_model_for_decode (5.24.0)
  if (spec.experts_implementation == ExpertsImplementation::grouped_mm)
    spec.experts_implementation = ExpertsImplementation::batched_mm;
  spec.seq = tokens;
  return spec;
}

bool has_input(const Program& program, std::string_view name) {
  return std::any_of(program.inputs.begin(), program.inputs.end(),
                     [&](const InputDeclaration& input) { return input.name == name; });
}

}  // namespace

Error no_generation_of(const std::string& model_type) {
  return Error(Errc::unsupported, fmt::format("no program of {} generates text", model_type), "generate",
               "run generate() itself: tidemark run -- python examples/generate.py config.json");
}

std::int64_t prompt_tokens(const Spec& spec, const Value& model_config) {
  if (spec.seq > 0) return spec.seq;
  const std::int64_t most = text_length(model_config, 0);
  return most > spec.generate ? most - spec.generate : most;
}

std::vector<Program> decode_programs(const Spec& spec, const Value& model_config,
                                     const std::function<Program(const Spec&)>& bound) {
  std::vector<Program> programs;
  std::int64_t first = prompt_tokens(spec, model_config) + 1;
  const std::int64_t last = first + spec.generate - 2;
  if (last < first) return programs;
  programs.push_back(bound(of_token(spec, first)));
  const Program longest = bound(of_token(spec, last));
  while (programs.back().main != longest.main) {  // past a window
    std::int64_t same = first, other = last;
    while (other - same > 1) {
      const std::int64_t middle = same + (other - same) / 2;
      (bound(of_token(spec, middle)).main == programs.back().main ? same : other) = middle;
    }
    programs.push_back(bound(of_token(spec, first = other)));
  }
  return programs;
}

void run_generation(Run& run, Model& model, std::span<const Program> programs, const Spec& spec,
                    const Value& model_config, Recorder& recorder, GenerationReport& report) {
  const GenerationConfig config = generation_config_of(spec, model_config);
  const Generation generation{.batch = spec.batch,
                              .prompt_tokens = prompt_tokens(spec, model_config),
                              .new_tokens = spec.generate,
                              .has_position_ids = has_input(programs.front(), "position_ids"),
                              .has_bos = config.has_bos,
                              .has_pad = config.has_pad,
                              .eos_tokens = config.eos_tokens,
                              .penalizes_repetition = config.penalizes_repetition};
  report = {.batch = generation.batch, .prompt_tokens = generation.prompt_tokens, .new_tokens = generation.new_tokens};
  const Context context = context_of(of_token(spec, 1), model_config);
  add_decode(model, programs.subspan(1), context, dtype_of(spec.dtype));
  Data data = data_of(spec);
  data.seq = generation.prompt_tokens;
  model.batch_sizes(data);
  load_model(run, model.root, spec, model_config, recorder);
  recorder.end_phase(0, Phase::load);
  recorder.assume_first(fmt::format(
      "generate() takes the most likely token, max_new_tokens={}, and no text ends before that; the cache grows with "
      "each token (DynamicCache)",
      spec.generate));
  if (!spec.generation_config.as_map())
    recorder.assume("generation_config.json is missing: the special tokens are those of config.json");
  if (config.has_cache_off)
    recorder.assume("generate(use_cache=True) is called, though config.json has use_cache = false");
  if (spec.batch > 1) recorder.assume("all prompts are of one length, so that none is padded");
  constexpr int kFirstPart = 3;  // behind those of a training's step: phase_of
  const std::int64_t cache_bytes = generate_greedily(run, model, generation, [&](GenerationPhase next) {
    if (next != GenerationPhase::prefill) recorder.end_phase(1, phase_of(run.stage));
    run.stage = {1, kFirstPart + static_cast<int>(next)};
  });
  recorder.end_phase(1, phase_of(run.stage));
  run.end();
  report.cache_bytes = cache_bytes;
  report.cached_tokens = generation.prompt_tokens + generation.new_tokens - 1;
}

}  // namespace tidemark
