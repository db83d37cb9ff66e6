// predict() as tests of strategies ask it, on a card with room, of the programs that are shipped.
#pragma once
#include <string>

#include "answers/data.h"
#include "answers/question.h"
#include "base/error.h"
#include "estimate/predict.h"

namespace tidemark {

inline Card card_with_room() {
  Card card;
  card.key = card.name = "card";
  card.compute_capability_major = 9;
  card.multiprocessors = 132;
  card.max_threads_per_multiprocessor = 2048;
  card.total_bytes = std::int64_t{80} << 30;
  return card;
}

/// The same with the rates and the link of an H100.
inline Card h100_with_room() {
  Card card = card_with_room();
  card.bf16_flops = 989'400'000'000'000;
  card.fp32_flops = 66'908'160'000'000;
  card.memory_bandwidth_bytes_per_s = 3'352'320'000'000;
  card.link = {"nvlink", 450'000'000'000};
  return card;
}

/// The programs of a model as transformers 5.17.0 has it, where nothing else is asked for; of one configuration.
inline answers::ProgramsOf shipped_programs(Spec spec) {
  static const answers::Data data = answers::data_of_folder(TIDEMARK_DATA, "", answers::ReadPrograms::when_asked);
  if (spec.transformers.empty()) spec.transformers = "5.17.0";
  return answers::programs_at_hand(spec, data.programs);
}

inline Report predicted(const Spec& spec, PredictOptions options = {.on_event = {}, .interval = false}) {
  check_spec(spec);
  const answers::SharedPrograms programs = shipped_programs(spec)(spec);
  options.programs = *programs;
  return predict(spec, spec.model, card_with_room(), options);
}

inline std::int64_t peak_bytes(const Spec& spec) { return predicted(spec).peak.allocated_bytes; }

/// Which field of the spec is refused.
inline std::string refused(const Spec& spec) {
  try {
    predicted(spec);
  } catch (const Error& error) {
    return error.where();
  }
  return "nothing";
}

}  // namespace tidemark
