// One line of a program, from left to right.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "program/program.h"

namespace tidemark {

std::optional<Dtype> find_dtype(std::string_view name);

class LineReader {
 public:
  /// What the names in a line stand for.
  struct Names {
    std::span<const std::string> symbols;
    std::function<std::size_t(std::string_view name)> value;      // "%1", "$x", "^0"
    std::function<std::size_t(std::string_view name)> attribute;  // "self.weight"
  };

  LineReader(std::string_view line, std::string where) : rest_(line), where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;

  std::string_view rest() const { return rest_; }
  bool at_end();
  bool take(std::string_view token);
  /// As a whole word: what follows is a blank or nothing.
  bool take_word(std::string_view word);
  void expect(std::string_view token);
  void expect_end();
  /// As far as letters, digits and `also` go.  Throws when there are none.
  std::string name(std::string_view also = "_.");
  /// Up to one of `ends` outside of brackets.
  std::string_view until(std::string_view ends);

  Expression number(std::string_view ends, std::span<const std::string> symbols);
  /// "float32[B, S, 1]", and flags behind it.
  TensorType type(const Names& names);
  /// "%0", "$x.0"
  std::string value_name();
  bool is_value();
  bool is_attribute();
  /// A value, an attribute or None, and not the name of a result.
  bool is_argument();
  Argument argument(const Names& names, int depth = 0);
  /// "(…)" of a function or a call.
  std::vector<NamedArgument> arguments(const Names& names);

 private:
  Argument quoted();
  Argument list(const Names& names, int depth);
  Argument slice(const Names& names, int depth);
  Argument word(const Names& names);

  std::string_view rest_;
  std::string where_;
};

}  // namespace tidemark
