// Builds a Value from the events of a parser, whatever it parses, with one set of rules for all files: keys stand once
// in a map, and nesting has an end.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "base/value.h"

namespace tidemark::io {

class ValueBuilder {
 public:
  explicit ValueBuilder(std::string where) : where_(std::move(where)) {}

  /// `line` is that of the event, or 0.  All throw Error{bad_file}.
  void begin_map(int line) { begin(Value::Map(), line); }
  void begin_list(int line) { begin(Value::List(), line); }
  void key(std::string name, int line);
  void end();
  void scalar(Value value, int line);

  /// Whether the next scalar is a key: the parser of YAML does not say.
  bool wants_key() const { return !open_.empty() && open_.back().value.as_map() && !open_.back().has_key; }

  Value take() { return std::move(result_); }

 private:
  struct Open {
    Value value;
    std::string key;
    bool has_key = false;
    std::unordered_map<std::string, int> lines;  // of the keys so far: labels of a model can be tens of thousands
  };
  void begin(Value value, int line);

  std::string where_;
  std::vector<Open> open_;
  Value result_;
};

}  // namespace tidemark::io
