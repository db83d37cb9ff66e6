#include "program/routine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "nn/layers.h"

namespace tidemark {
namespace {

/// "self.mlp.gate.weight", "@model.embed_tokens.weight", "@scale": the path of the module, and the attribute's name.
std::pair<std::string_view, std::string_view> in_parts(std::string_view path) {
  path.remove_prefix(path.starts_with('@') ? 1 : std::string_view("self.").size());
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace

Routines::Routines(const Program& program, Module& root, const CheckpointableLayers& layers, const Module* cut)
    : program_(program), root_(root), layers_(layers), cut_(cut) {
  for (const auto& [name, body] : program.bodies)
    for (const std::size_t place : body.given) given_.emplace(in_parts(body.attributes[place]).second);
  const Body& body = program.bodies.at(program.main);
  main_ = &bind(body, root, body.line);
}

void Routines::fail(int line, const std::string& what, const std::string& hint) const {
  throw Error(Errc::bad_file, what, program_.where(line), hint);
}

/// "self_attn.q_proj" from a module, "@model.norm" from the root, "." and "" for itself.
Module& Routines::find(Module& from, std::string_view path, int line) const {
  Module* module = path.starts_with('@') ? &root_ : &from;
  if (path.starts_with('@')) path.remove_prefix(1);
  while (!path.empty() && path != ".") {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (!module->has(name)) {
      std::vector<std::string> known;
      for (const std::unique_ptr<Module>& child : module->children()) known.emplace_back(child->name());
      fail(line, fmt::format("no module {} in {}", name, module->full_name()), did_you_mean(name, known));
    }
    module = &(*module)[name];
  }
  return *module;
}

/// A layer that was taken out of its list.
bool Routines::is_elsewhere(Module& from, const std::string& path, int line) const {
  const std::size_t dot = path.rfind('.');
  if (!cut_ || dot == std::string::npos) return false;
  Module& list = find(from, std::string_view(path).substr(0, dot), line);
  return &list == cut_ && !list.has(std::string_view(path).substr(dot + 1));
}

void Routines::bind_attribute(Routine& routine, const std::string& path) const {
  const int line = routine.body->line;
  const auto [owner_path, name] = in_parts(path);
  Module& owner = find(path.starts_with('@') ? root_ : *routine.module, owner_path, line);
  if (owner.has_parameter(name)) {
    routine.attributes.push_back({&owner, owner.get(name).name});
  } else if (given_.contains(name)) {
    routine.later.push_back(routine.attributes.size());
    routine.attributes.push_back({.module = &owner, .name = name, .is_made = true});
  } else if (generates(program_)) {  // the prompt's pass is another program
    throw Error(Errc::unsupported,
                fmt::format("the prompt's pass makes {}.{}, which the passes of new tokens do not share",
                            owner.full_name(), name),
                "generate", "run the program itself with tidemark run");
  } else {
    fail(line, fmt::format("\"{}\" has no parameter or buffer {}", owner.full_name(), name));
  }
}

Routine& Routines::bind(const Body& body, Module& module, int line) {
  const auto [place, is_new] = routines_.try_emplace({&body, &module});
  Routine& routine = place->second;
  if (!is_new && !routine.is_bound) fail(line, fmt::format("{} calls itself", body.name));
  if (!is_new) return routine;
  routine.body = &body;
  routine.module = &module;
  for (const std::string& path : body.attributes) bind_attribute(routine, path);
  routine.targets.resize(body.sites);
  bind(body.statements, routine, nullptr);
  routine.is_bound = true;
  return routine;
}

void Routines::bind(const std::vector<Statement>& statements, Routine& routine, const Statement* repeat) {
  constexpr std::int64_t kMostRounds = 1 << 16;
  for (const Statement& statement : statements) {
    if (statement.kind == Statement::Kind::repeat) bind(statement.block, routine, &statement);
    if (statement.kind == Statement::Kind::once) bind(statement.block, routine, repeat);
    if (statement.kind != Statement::Kind::call && statement.kind != Statement::Kind::within) continue;
    std::vector<Target>& targets = routine.targets[statement.site];
    const std::size_t hole = statement.path.find('{');
    if (hole == std::string::npos) {
      targets.push_back(target(statement, routine, statement.path));
      continue;
    }
    const std::size_t end = std::min(statement.path.find('}'), statement.path.size() - 1);
    std::vector<std::string> symbols = program_.symbols;
    symbols.emplace_back("i");
    const Expression number = Expression::parse(std::string_view(statement.path).substr(hole + 1, end - hole - 1),
                                                symbols, program_.where(statement.line));
    const std::int64_t first = repeat ? repeat->first(program_.captured_values) : 0;
    const std::int64_t last = repeat ? repeat->last(program_.captured_values) : 0;
    if (last - first >= kMostRounds || first < 0) fail(statement.line, "such a number of rounds");
    std::vector<std::int64_t> values = program_.captured_values;
    values.push_back(0);
    for (std::int64_t i = first; i <= last; ++i) {
      values.back() = i;
      std::string path = statement.path;
      targets.push_back(target(statement, routine, path.replace(hole, end - hole + 1, std::to_string(number(values)))));
    }
  }
}

Target Routines::target(const Statement& statement, const Routine& routine, const std::string& path) {
  const Body& body = program_.bodies.at(statement.name);
  const bool made_on_the_fly = path == "?";  // a module that is nobody's child
  if (statement.kind == Statement::Kind::within || made_on_the_fly)
    return {.module = routine.module, .routine = &bind(body, *routine.module, statement.line), .is_scope = true};
  if (is_elsewhere(*routine.module, path, statement.line)) return {};
  Module& module = find(*routine.module, path, statement.line);
  const auto layer = layers_.find(&module);
  Target target{.module = &module, .layer = layer == layers_.end() ? -1 : layer->second};
  if (!module.forward || module.forward == program_linear)
    target.routine = &bind(body, module, statement.line);
  else if (statement.bound.size() != 1)
    fail(statement.line, fmt::format("a call of {} with other than one tensor", module.full_name()));
  return target;
}

}  // namespace tidemark
