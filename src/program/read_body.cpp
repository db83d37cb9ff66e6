#include "program/read_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "program/line_reader.h"

namespace tidemark {
namespace {

class BodyReader {
 public:
  BodyReader(const Program& program, const std::vector<ProgramLine>& lines, std::size_t& at)
      : program_(program), lines_(lines), at_(at) {
    names_ = {program.symbols, [this](std::string_view name) { return known_value(name); },
              [this](std::string_view name) { return attribute(name); }};
  }

  Body read() {
    const ProgramLine& line = lines_[at_];
    LineReader reader = reader_of(line);
    body_.line = line.number;
    if (line.indent > 0 || !(reader.take_word("class") || reader.take_word("function") || reader.take_word("scope")))
      reader.fail("expected \"class NAME#N(…):\"");
    body_.name = reader.name("_.#");
    reader.expect("(");
    while (!reader.take(")")) {
      body_.parameters.push_back(reader.name("_.^"));
      new_value("$" + body_.parameters.back());
      reader.expect(":");
      reader.type(names_);
      if (!reader.take(",") && !reader.rest().starts_with(")")) reader.fail("parameters without their end");
    }
    reader.take_word("checkpointable");
    reader.expect(":");
    reader.expect_end();
    ++at_;
    statements(body_.statements, line, 0);
    if (body_.statements.empty() || body_.statements.back().kind != Statement::Kind::leave)
      reader.fail(fmt::format("{} does not end with \"return …\"", body_.name));
    return std::move(body_);
  }

 private:
  LineReader reader_of(const ProgramLine& line) const { return {line.text, program_.where(line.number)}; }

  void statements(std::vector<Statement>& block, const ProgramLine& head, int depth) {
    constexpr int kDeepest = 10;
    const std::size_t inside = head.indent + 2;
    for (; at_ < lines_.size() && lines_[at_].indent > head.indent;) {
      const ProgramLine& line = lines_[at_++];
      LineReader reader = reader_of(line);
      if (line.indent != inside || depth == kDeepest) reader.fail("it stands deeper than what it belongs to");
      Statement statement{.line = line.number};
      if (reader.take_word("repeat")) {
        repeat(reader, statement, line, depth);
      } else if (reader.take_word("once")) {
        once(reader, statement, line, depth);
      } else if (reader.take_word("next")) {
        if (depth == 0) reader.fail("\"next\" outside of a \"repeat\"");
        return next(reader);
      } else if (!reader.take_word("saves")) {
        if (!simple(reader, statement)) call(reader, statement);
      } else {
        continue;  // what autograd keeps follows from the operation
      }
      reader.expect_end();
      block.push_back(std::move(statement));
    }
  }

  void repeat(LineReader& reader, Statement& statement, const ProgramLine& line, int depth) {
    statement.kind = Statement::Kind::repeat;
    reader.expect("i in ");
    const std::string range(reader.until(":"));
    reader.expect(":");
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos) reader.fail("expected \"repeat i in FIRST..LAST:\"");
    statement.first = Expression::parse(range.substr(0, dots), program_.symbols, program_.where(line.number));
    statement.last = Expression::parse(range.substr(dots + 2), program_.symbols, program_.where(line.number));
    statements(statement.block, line, depth + 1);
    statement.next = std::exchange(next_, {});
  }

  /// "once self.long_inv_freq:": done where the module has no such attribute yet, which it has behind it.
  void once(LineReader& reader, Statement& statement, const ProgramLine& line, int depth) {
    statement.kind = Statement::Kind::once;
    statement.results.push_back(result(attribute_name(reader), std::nullopt));
    reader.expect(":");
    statements(statement.block, line, depth + 1);
    const auto is_given = [&](const Statement& one) {
      return one.kind == Statement::Kind::keep && !one.results.empty() &&
             one.results[0].place == statement.results[0].place;
    };
    if (!next_.empty() || std::none_of(statement.block.begin(), statement.block.end(), is_given))
      reader.fail(fmt::format("what is done once does not end with \"keep {}=…\"",
                              body_.attributes[statement.results[0].place]));
  }

  static std::string attribute_name(LineReader& reader) {
    if (!reader.is_attribute())
      reader.fail(fmt::format("expected an attribute, found \"{}\"", reader.rest().substr(0, 40)));
    return reader.name("_.@");
  }

  /// "keep self.inv_freq=%9": an attribute takes it, and what it had before is let go of.
  void kept(LineReader& reader, Statement& statement) {
    statement.results.push_back(result(attribute_name(reader), std::nullopt));
    body_.given.push_back(statement.results[0].place);
    reader.expect("=");
    statement.arguments.push_back({.name = {}, .value = reader.argument(names_)});
    const Argument::Kind kind = statement.arguments[0].value.kind;
    if (kind != Argument::Kind::value && kind != Argument::Kind::attribute) reader.fail("an attribute keeps a value");
  }

  /// "next %9=%10": the last line of a round.
  void next(LineReader& reader) {
    while (!reader.at_end()) {
      const std::size_t to = value(reader.value_name());
      reader.expect("=");
      next_.emplace_back(to, known_value(reader.value_name()));
      reader.take(",");
    }
  }

  /// Statements that begin with a word of their own.
  bool simple(LineReader& reader, Statement& statement) {
    using Kind = Statement::Kind;
    if (reader.take_word("del")) {
      statement.kind = Kind::drop;
    } else if (reader.take_word("hold")) {
      statement.kind = Kind::hold;
    } else if (reader.take_word("keep")) {
      statement.kind = Kind::keep;
      if (reader.is_attribute()) {
        kept(reader, statement);
        return true;
      }
    } else if (reader.take_word("return")) {
      statement.kind = Kind::leave;
      returned(reader, statement);
      return true;
    } else if (reader.take("set_grad_enabled(")) {
      statement.kind = Kind::grad_mode;
      statement.enabled = reader.take_word("True");
      if (!statement.enabled && !reader.take_word("False")) reader.fail("expected True or False");
      reader.expect(")");
      return true;
    } else if (reader.take_word("enter")) {
      enter(reader, statement);
      return true;
    } else if (reader.take_word("exit")) {
      reader.expect("autocast");
      statement.kind = Kind::exit_autocast;
      return true;
    } else {
      return false;
    }
    while (!reader.at_end()) {
      statement.values.push_back(known_value(reader.value_name()));
      reader.take(",");
    }
    return true;
  }

  /// "enter autocast(device, dtype=bfloat16, enabled=False)"
  void enter(LineReader& reader, Statement& statement) {
    statement.kind = Statement::Kind::enter_autocast;
    reader.expect("autocast");
    statement.arguments = reader.arguments(names_);
    statement.enabled = true;
    for (const NamedArgument& argument : statement.arguments)
      if (argument.name == "enabled") statement.enabled = argument.value.flag;
  }

  void returned(LineReader& reader, Statement& statement) {
    while (!reader.at_end()) {
      NamedArgument one;
      if (!reader.is_argument()) {
        one.name = reader.name("_.^");
        reader.expect("=");
      }
      one.value = reader.argument(names_);
      statement.arguments.push_back(std::move(one));
      if (!reader.take(",")) return;
    }
  }

  using ResultNames = std::vector<std::pair<std::string, std::optional<TensorType>>>;

  /// "%1: T[4] view, %2 = "; nothing where a statement has none.
  ResultNames results(LineReader& reader) {
    ResultNames results;
    while (reader.is_value() || reader.is_attribute()) {
      std::string name = reader.is_value() ? reader.value_name() : reader.name("_.@");
      std::optional<TensorType> type;
      if (reader.take(":")) type = reader.type(names_);
      results.emplace_back(std::move(name), std::move(type));
      if (!reader.take(",")) break;
    }
    return results;
  }

  /// RESULTS = FUNCTION(…), RESULTS = call PATH: CLASS#N(…), …; RESULTS alone of what appeared unseen.
  void call(LineReader& reader, Statement& statement) {
    ResultNames names = results(reader);
    if (!names.empty() && reader.at_end()) {
      statement.kind = Statement::Kind::appear;
    } else {
      if (!names.empty()) reader.expect("=");
      called(reader, statement);
      statement.arguments = reader.arguments(names_);
      if (reader.take("!")) statement.shared = reader.until("") == "shared";  // !host VALUE, !data, !shared
    }
    // Results get their names behind the arguments: `%1 = f(%1)` names an older value.
    for (auto& [name, type] : names) statement.results.push_back(result(name, std::move(type)));
  }

  void called(LineReader& reader, Statement& statement) {
    using Kind = Statement::Kind;
    if (reader.take_word("call")) {
      statement.kind = Kind::call;
      statement.path = reader.until(":");
      reader.expect(":");
    } else if (reader.take_word("within")) {
      statement.kind = Kind::within;
    } else {
      statement.kind = reader.take_word("apply") ? Kind::apply : Kind::function;
    }
    statement.name = reader.name("_.#");
    if (statement.kind == Kind::call || statement.kind == Kind::within) statement.site = body_.sites++;
  }

  Result result(const std::string& name, std::optional<TensorType> type) {
    Result result{.is_typed = type.has_value()};
    if (type) result.type = std::move(*type);
    if (name[0] == '%' || name[0] == '$') {
      result.place = value(name);
    } else {
      result.of = Result::Of::attribute;
      result.place = attribute(name);
    }
    return result;
  }

  std::size_t new_value(const std::string& name) {
    body_.values.push_back(name);
    return places_[name] = body_.values.size() - 1;
  }

  std::size_t value(const std::string& name) {
    const auto found = places_.find(name);
    return found == places_.end() ? new_value(name) : found->second;
  }

  std::size_t known_value(std::string_view name) const {
    const auto found = places_.find(std::string(name));
    if (found == places_.end())
      throw Error(Errc::bad_file, fmt::format("no value {} here", name), program_.where(lines_[at_ - 1].number),
                  did_you_mean(name, body_.values));
    return found->second;
  }

  std::size_t attribute(std::string_view path) {
    const auto found = std::find(body_.attributes.begin(), body_.attributes.end(), path);
    if (found != body_.attributes.end()) return static_cast<std::size_t>(found - body_.attributes.begin());
    body_.attributes.emplace_back(path);
    return body_.attributes.size() - 1;
  }

  const Program& program_;
  const std::vector<ProgramLine>& lines_;
  std::size_t& at_;
  LineReader::Names names_;
  Body body_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::pair<std::size_t, std::size_t>> next_;
};

}  // namespace

Body read_body(const Program& program, const std::vector<ProgramLine>& lines, std::size_t& at) {
  return BodyReader(program, lines, at).read();
}

}  // namespace tidemark
