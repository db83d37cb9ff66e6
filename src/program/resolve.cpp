// What the names in a program stand for: functions, bodies, parameters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "program/function.h"

namespace tidemark {
namespace {

class Resolver {
 public:
  explicit Resolver(Program& program) : program_(program) {}

  void resolve() {
    for (auto& [name, body] : program_.bodies) resolve(body.statements);
    for (auto& [name, body] : program_.bodies) find_consumed(body, 0);
    if (!missing_.empty())
      throw Error(Errc::unsupported,
                  fmt::format("{} of torch {} not simulated: {}", missing_.size() == 1 ? "a function" : "functions",
                              missing_.size() == 1 ? "is" : "are", fmt::join(missing_, ", ")),
                  program_.file);
  }

 private:
  void resolve(std::vector<Statement>& statements) {
    for (Statement& statement : statements) {
      switch (statement.kind) {
        case Statement::Kind::once:
        case Statement::Kind::repeat: resolve(statement.block); break;
        case Statement::Kind::function:
        case Statement::Kind::apply: function(statement); break;
        case Statement::Kind::call:
        case Statement::Kind::within: body(statement); break;
        default: break;
      }
    }
  }

  [[noreturn]] void fail(const Statement& statement, const std::string& what, const std::string& hint = {}) const {
    throw Error(Errc::bad_file, what, program_.where(statement.line), hint);
  }

  void function(Statement& statement) {
    const std::string name = statement.name.substr(0, statement.name.find('#'));
    statement.function = find_function(name);
    if (!statement.function) {
      missing_.insert(name);
      return;
    }
    // Headers of models with experts may not say how these are run.
    if (name.ends_with("_grouped_mm")) program_.header.try_emplace("experts", "grouped_mm");
    const Function& function = *statement.function;
    const std::size_t count = parameter_count(function);
    const std::optional<std::size_t> further = further_place(function);
    statement.bound.assign(count, nullptr);
    Argument rest{.kind = Argument::Kind::list};
    std::size_t next = 0;
    for (NamedArgument& argument : statement.arguments) {
      if (argument.name.empty() && further && next >= *further) {
        rest.items.push_back(argument.value);
        continue;
      }
      const bool by_position = argument.name.empty() || (argument.name[0] >= '0' && argument.name[0] <= '9');
      const std::optional<std::size_t> place = by_position ? next++ : parameter_place(function, argument.name);
      if (!place || *place >= count) {
        if (argument.value.kind == Argument::Kind::none) continue;  // it is not there, whatever it is
        unsupported_argument(statement, argument.name);
      }
      statement.bound[*place] = &argument.value;
    }
    if (!further || rest.items.empty()) return;
    statement.further.push_back(std::move(rest));
    statement.bound[*further] = &statement.further.back();
  }

  /// What reaches a body otherwise than by its arguments is held by an object, which may let go of it in there.
  void find_consumed(Body& body, int depth) {
    constexpr int kDeepest = 60;
    if (!body.consumed.empty() || depth == kDeepest) return;
    body.consumed.assign(body.parameters.size() + 1, false);
    for (const Statement& statement : body.statements) {
      if (statement.kind == Statement::Kind::drop)
        for (const std::size_t place : statement.values)
          if (place < body.parameters.size() && body.parameters[place][0] == '^') body.consumed[place] = true;
      if (statement.kind != Statement::Kind::call) continue;
      Body& callee = program_.bodies.at(statement.name);
      find_consumed(callee, depth + 1);
      for (std::size_t i = 0; i < statement.bound.size(); ++i)
        if (callee.consumed[i] && statement.bound[i] && statement.bound[i]->place < body.parameters.size())
          body.consumed[statement.bound[i]->place] = true;
    }
  }

  [[noreturn]] void unsupported_argument(const Statement& statement, const std::string& name) const {
    throw Error(Errc::unsupported,
                fmt::format("{} with {} is not simulated", statement.name,
                            name.empty() ? "so many arguments" : "the argument " + name),
                program_.where(statement.line));
  }

  static std::optional<std::size_t> further_place(const Function& function) {
    const std::size_t star = function.parameters.find('*');
    if (star == std::string_view::npos) return std::nullopt;
    const std::size_t end = std::min(function.parameters.find(' ', star), function.parameters.size());
    return parameter_place(function, function.parameters.substr(star + 1, end - star - 1));
  }

  void body(Statement& statement) {
    const Body& body = body_of(statement);
    statement.bound.assign(body.parameters.size(), nullptr);
    for (const NamedArgument& argument : statement.arguments) {
      const auto found = std::find(body.parameters.begin(), body.parameters.end(), argument.name);
      if (found == body.parameters.end())
        fail(statement, fmt::format("{} takes no {}", body.name, argument.name),
             did_you_mean(argument.name, body.parameters));
      statement.bound[static_cast<std::size_t>(found - body.parameters.begin())] = &argument.value;
    }
  }

  const Body& body_of(const Statement& statement) const {
    if (const auto found = program_.bodies.find(statement.name); found != program_.bodies.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, body] : program_.bodies) known.push_back(name);
    fail(statement, fmt::format("no class {} in this program", statement.name), did_you_mean(statement.name, known));
  }

  Program& program_;
  std::set<std::string> missing_;
};

}  // namespace

void resolve_functions(Program& program) { Resolver(program).resolve(); }

}  // namespace tidemark
