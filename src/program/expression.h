// Whole numbers of a captured program: "B*S", "hidden//heads", "-1 + layers".
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Over symbols that go by their place in a list of names.
class Expression {
 public:
  Expression() = default;
  explicit Expression(std::int64_t constant) : steps_{{Kind::constant, constant}} {}

  /// `where` is for messages.  Throws Error{bad_file}, with the nearest symbol for one that is not there.
  static Expression parse(std::string_view text, std::span<const std::string> symbols, const std::string& where);

  /// Throws Error{bad_value} for a division by zero and for numbers past 2^63.
  std::int64_t operator()(std::span<const std::int64_t> values) const {
    return steps_.size() == 1 ? one(steps_[0], values) : evaluate(values);
  }

  /// Of a size that the program does not tell ("?"): no.
  bool is_told() const { return steps_[0].kind != Kind::untold; }

  /// The place of the symbol that it is, if it is one.
  std::optional<std::size_t> as_symbol() const {
    if (steps_.size() != 1 || steps_[0].kind != Kind::symbol) return std::nullopt;
    return static_cast<std::size_t>(steps_[0].number);
  }

 private:
  enum class Kind : std::uint8_t {
    constant,
    symbol,
    add,
    subtract,
    multiply,
    divide,
    divide_up,
    remainder,
    least,
    greatest,
    routed,
    hit,
    untold
  };
  struct Step {  // of its postfix form
    Kind kind;
    std::int64_t number = 0;  // the constant, or the symbol's place
  };
  friend class ExpressionReader;

  static std::int64_t one(const Step& step, std::span<const std::int64_t> values) {
    if (step.kind == Kind::untold) return evaluate_untold();
    return step.kind == Kind::constant ? step.number : values[static_cast<std::size_t>(step.number)];
  }
  static std::int64_t apply_to_routing(const Step& step, std::vector<std::int64_t>& stack);
  static std::int64_t apply(Kind kind, std::int64_t a, std::int64_t b);
  std::int64_t evaluate(std::span<const std::int64_t> values) const;
  [[noreturn]] static std::int64_t evaluate_untold();

  std::vector<Step> steps_{{Kind::constant, 0}};
};

}  // namespace tidemark
