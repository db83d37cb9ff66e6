// The recorded configurations, and short trainings of them.
#pragma once
#include <filesystem>
#include <sstream>

#include "../programs_at_hand.h"
#include "../recorded_step.h"
#include "io/value_json.h"

namespace tidemark {

/// Each line of a recording.
inline std::vector<Value> recorded_rows(const char* recording) {
  std::istringstream text(unpack(std::filesystem::path(TIDEMARK_RECORDINGS) / recording));
  std::vector<Value> rows;
  for (std::string line; std::getline(text, line);) rows.push_back(io::value_from_json(line, recording));
  return rows;
}

inline const std::string& text_of(const Value& row, const char* key) { return *row.find(key)->as_text(); }

/// Two layers are as good as eighty where reading is meant.
inline Value with_few_layers(const Value& config) {
  constexpr std::int64_t kLayers = 2;
  const Value::Map* map = config.as_map();
  if (!map) return config;
  Value result = Value::Map();
  for (const auto& [key, value] : *map) {
    const std::int64_t* number = value.as_integer();
    const bool counts_layers = key == "num_hidden_layers" || key == "num_layers" || key == "n_layer" || key == "depth";
    result.append(key, number && counts_layers && *number > kLayers ? Value(kLayers) : with_few_layers(value));
  }
  return result;
}

inline const Card& large_card() {
  static const Card card = [] {
    Value header = Value::Map();
    header.set("card", "h200");
    Card h200 = card_of(header);
    h200.total_bytes = 1LL << 42;
    return h200;
  }();
  return card;
}

inline Report short_training(const Value& config, const std::string& head = "auto") {
  Spec spec;
  spec.head = head;
  spec.steps = 1;
  if (head != "image_classification") spec.seq = 16;
  PredictOptions options;
  options.interval = false;
  return predict_at_hand(spec, config, large_card(), options);
}

}  // namespace tidemark
