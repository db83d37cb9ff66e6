// Measured trainings that tests make up: small round numbers.
#pragma once
#include <string>

#include "base/value.h"
#include "validate/corpus.h"

namespace tidemark {

inline Value measurement_value(const std::string& id = "a") {
  return Value::Map{{"id", id},
                    {"source", "nowhere@0 table.csv"},
                    {"gpu", "t4"},
                    {"metric", "reserved"},
                    {"measured_bytes", 1000},
                    {"predict_reason", "made up"},
                    {"run", Value::Map{{"script", "train.py"}}}};
}

/// One corpus with rows "a", "b", ...: measured bytes, predicted bytes.
inline Corpus corpus_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  Corpus corpus;
  corpus.info.name = "made-up";
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Value row = measurement_value(std::string(1, static_cast<char>('a' + i)));
    row.set("measured_bytes", pairs[i].first);
    corpus.rows.push_back(read_measurement(row, "rows.jsonl: line " + std::to_string(i + 1)));
    Answer answer;
    answer.id = corpus.rows.back().id;
    answer.reserved_bytes = pairs[i].second;
    corpus.stored.push_back(answer);
  }
  return corpus;
}

}  // namespace tidemark
