#include "program/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "program/routed.h"

namespace tidemark {

/// sum: product (('+' | '-') product)*; product: atom (('*' | '//' | '/' | '%') atom)*;
/// atom: number | name | '-' atom | '(' sum ')' | ('min' | 'max' | 'ceildiv' | 'routed' | 'hit') '(' sum (',' sum)* ')'
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, std::span<const std::string> symbols, const std::string& where)
      : text_(text), rest_(text), symbols_(symbols), where_(where) {}

  Expression read() {
    Expression result;
    result.steps_.clear();
    if (take("?")) {
      result.steps_.push_back({Kind::untold});
      if (!next().empty()) fail(fmt::format("\"{}\" is not understood", rest_));
      return result;
    }
    sum(result, 0);
    if (!next().empty()) fail(fmt::format("\"{}\" is not understood", rest_));
    return result;
  }

 private:
  using Kind = Expression::Kind;
  static constexpr int kDeepest = 100;

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    throw Error(Errc::bad_file, fmt::format("{} in the number \"{}\"", what, text_), where_, hint);
  }

  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return rest_;
  }
  bool take(std::string_view token) {
    if (!next().starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(fmt::format("\"{}\" is missing", token));
  }

  void sum(Expression& to, int depth) {
    if (depth > kDeepest) fail("too many brackets");
    product(to, depth);
    while (true) {
      const bool adds = take("+");
      if (!adds && !take("-")) return;
      product(to, depth);
      to.steps_.push_back({adds ? Kind::add : Kind::subtract});
    }
  }

  void product(Expression& to, int depth) {
    atom(to, depth);
    while (true) {
      Kind kind = Kind::multiply;
      if (take("//") || take("/"))
        kind = Kind::divide;
      else if (take("%"))
        kind = Kind::remainder;
      else if (!take("*"))
        return;
      atom(to, depth);
      to.steps_.push_back({kind});
    }
  }

  void atom(Expression& to, int depth) {
    if (depth > kDeepest) fail("too many signs");
    if (take("-")) {
      to.steps_.push_back({Kind::constant, 0});
      atom(to, depth + 1);
      to.steps_.push_back({Kind::subtract});
    } else if (take("(")) {
      sum(to, depth + 1);
      expect(")");
    } else if (const auto number = constant()) {
      to.steps_.push_back({Kind::constant, *number});
    } else {
      named(to, depth);
    }
  }

  std::optional<std::int64_t> constant() {
    next();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error == std::errc::result_out_of_range) fail("a number past 2^63");
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

  void named(Expression& to, int depth) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_letter);
    const std::string name(rest_.begin(), end);
    if (name.empty()) fail(rest_.empty() ? "something is missing" : fmt::format("\"{}\" is not understood", rest_));
    rest_.remove_prefix(name.size());
    struct Known {
      std::string_view name;
      Kind kind;
      int arguments;
    };
    static constexpr Known kFunctions[] = {{"min", Kind::least, 2},
                                           {"max", Kind::greatest, 2},
                                           {"ceildiv", Kind::divide_up, 2},
                                           {"routed", Kind::routed, 4},
                                           {"hit", Kind::hit, 3}};
    for (const Known& function : kFunctions) {
      if (name != function.name || !take("(")) continue;
      for (int i = 0; i < function.arguments; ++i) {
        if (i > 0) expect(",");
        sum(to, depth + 1);
      }
      expect(")");
      if (function.arguments > 2) skew(to);
      to.steps_.push_back({function.kind});
      return;
    }
    const auto found = std::find(symbols_.begin(), symbols_.end(), name);
    if (found == symbols_.end()) fail(fmt::format("no symbol {}", name), did_you_mean(name, symbols_));
    to.steps_.push_back({Kind::symbol, found - symbols_.begin()});
  }

  /// What share of the tokens choose the first experts, which programs have among their sizes.
  void skew(Expression& to) {
    const auto found = std::find(symbols_.begin(), symbols_.end(), kSkew);
    to.steps_.push_back(found == symbols_.end() ? Expression::Step{Kind::constant, 0}
                                                : Expression::Step{Kind::symbol, found - symbols_.begin()});
  }

  std::string_view text_, rest_;
  std::span<const std::string> symbols_;
  const std::string& where_;
};

Expression Expression::parse(std::string_view text, std::span<const std::string> symbols, const std::string& where) {
  return ExpressionReader(text, symbols, where).read();
}

namespace {

/// As Python's, which round down.
std::int64_t floor_of_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

std::int64_t Expression::apply(Kind kind, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool past = false;
  switch (kind) {
    case Kind::add: past = __builtin_add_overflow(a, b, &result); break;
    case Kind::subtract: past = __builtin_sub_overflow(a, b, &result); break;
    case Kind::multiply: past = __builtin_mul_overflow(a, b, &result); break;
    case Kind::least: result = std::min(a, b); break;
    case Kind::greatest: result = std::max(a, b); break;
    default:
      if (b == 0) throw Error(Errc::bad_value, "a size of the program is divided by zero");
      if (b == -1) return apply(Kind::subtract, 0, kind == Kind::remainder ? 0 : a);
      result = floor_of_quotient(a, b);
      if (kind == Kind::remainder) result = a - result * b;
      if (kind == Kind::divide_up && a % b != 0) ++result;
  }
  if (past) throw Error(Errc::bad_value, "a size of the program is past 2^63");
  return result;
}

/// Takes the numbers of a text's tokens, of experts for each and of all experts, the number of one, and the skew.
std::int64_t Expression::apply_to_routing(const Step& step, std::vector<std::int64_t>& stack) {
  const std::size_t taken = step.kind == Kind::routed ? 5 : 4, at = stack.size() - taken;
  const Routing routing = routing_of(stack[at], stack[at + 1], stack[at + 2], stack.back());
  const std::int64_t expert = stack[at + 3];
  stack.resize(at);
  return step.kind == Kind::routed ? tokens_of_place(routing, expert) : experts_hit(routing);
}

std::int64_t Expression::evaluate_untold() {
  throw Error(Errc::bad_value, "a size is asked for that the program does not tell");
}

std::int64_t Expression::evaluate(std::span<const std::int64_t> values) const {
  std::vector<std::int64_t> stack;
  for (const Step& step : steps_) {
    if (step.kind == Kind::constant || step.kind == Kind::symbol) {
      stack.push_back(one(step, values));
      continue;
    }
    if (step.kind == Kind::routed || step.kind == Kind::hit) {
      const std::int64_t result = apply_to_routing(step, stack);
      stack.push_back(result);
      continue;
    }
    const std::int64_t b = stack.back();
    stack.pop_back();
    stack.back() = apply(step.kind, stack.back(), b);
  }
  return stack.back();
}

}  // namespace tidemark
