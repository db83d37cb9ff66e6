// How programs of the tests are trained: on a card of 24 GiB, two samples of eight tokens.
#pragma once
#include <string>
#include <vector>

#include "estimate/predict.h"
#include "io/program_text.h"

namespace tidemark {

inline std::vector<Program> programs_of(const std::string& text) {
  std::vector<Program> programs;
  programs.push_back(io::read_program_text(text, "tiny.program"));
  return programs;
}

inline Card tiny_card() {
  Card card;
  card.total_bytes = std::int64_t{24} << 30;
  card.compute_capability_major = 8;
  card.multiprocessors = 82;
  card.max_threads_per_multiprocessor = 1536;
  return card;
}

inline Spec tiny_spec(Spec spec = {}) {
  spec.batch = 2;
  spec.seq = 8;
  spec.steps = 1;
  spec.use_cache = UseCache::no;
  return spec;
}

/// Lines of the allocator: "+512 aten::mul layers.0.norm".
inline std::vector<std::string> events_of(const std::string& text, const Spec& spec) {
  const std::vector<Program> programs = programs_of(text);
  std::vector<std::string> events;
  predict(spec, programs[0].config, tiny_card(),
          {.on_event = [&](std::string_view line) { events.emplace_back(line); }, .programs = programs});
  return events;
}

}  // namespace tidemark
