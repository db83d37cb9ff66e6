// A key of the configuration that a family's program reads, as its header tells of it (docs/reference/programs.md,
// Families).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "program/line_reader.h"
#include "program/program.h"

namespace tidemark {

/// "key head_dim = hidden_size//num_attention_heads; null; also attention_head_dim"
struct Key {
  std::string path, fallback;
  std::vector<std::string> others;
  std::map<std::string, Value> words = {};  // others that say a list as a word: what each letter stands for
  Value older = {};                         // what entries of the list were called before
  bool null_is_absent = false;
  Value value = {};
  bool is_known = false;
};

/// What stands behind "key".
Key read_key(LineReader& reader, ReadValue read_value, const std::string& file);
/// Takes the configuration's value where it has one.  Throws Error{bad_value} for a number that is none, or too large.
void find_value(Key& key, const Value& config);
/// Whether a default is said, and not made of other keys.
bool is_literal(std::string_view text);
/// How a message says it.
std::string told(const Value& value);

}  // namespace tidemark
