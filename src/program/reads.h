// Which keys of a configuration a family's program says that transformers reads.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/value.h"
#include "program/line_reader.h"
#include "program/unread_key.h"

namespace tidemark {

/// "reads hidden_size vocab_size", of the configuration's class; "reads text_config as llama: hidden_size", of a
/// part's.
struct Reads {
  std::string part, model_type;  // empty of the whole
  std::vector<std::string> keys;
};

/// What follows the word.
Reads read_reads(LineReader& reader);

/// Those of `config` that are neither in `reads` nor one of the program's own keys, `used`, or in one.  None where
/// `reads` is empty.
std::vector<UnreadKey> unread_keys(const Value& config, std::span<const Reads> reads,
                                   std::span<const std::string> used);

}  // namespace tidemark
