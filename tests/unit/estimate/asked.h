// predict() as tests of strategies ask it, on a card with room.
#pragma once
#include <string>

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

inline Report predicted(const Spec& spec) {
  check_spec(spec);
  return predict(spec, spec.model, card_with_room(), {.on_event = {}, .interval = false});
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
