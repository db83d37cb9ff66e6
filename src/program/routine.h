// The bodies of a program on the modules that they are called on: what a name in them stands for is looked up once.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "nn/module.h"
#include "program/program.h"

namespace tidemark {

struct Routine;

/// What a call runs: a module's own forward where it has one, else a body.
struct Target {
  Module* module = nullptr;  // none: a layer that is on another stage, and gives what it is given
  const Routine* routine = nullptr;
  std::int64_t layer = -1;  // among those that checkpointing wraps; -1: none
  bool is_scope = false;    // no module is entered
};

/// A body on a module.
struct Routine {
  const Body* body = nullptr;
  Module* module = nullptr;
  std::vector<Values::Attribute> attributes = {};
  std::vector<std::size_t> later = {};            // attributes that are there when a forward has made them, by place
  std::vector<std::vector<Target>> targets = {};  // of each call, by the round of the loop around it
  bool is_bound = false;
};

/// Modules that checkpointing wraps, in their order of registration.
using CheckpointableLayers = std::map<const Module*, std::int64_t>;

class Routines {
 public:
  /// All of them outlive it.  `cut`: a list of which some modules are on other stages, if there is one.  Throws
  /// Error{bad_file} for what a name does not find.
  Routines(const Program& program, Module& root, const CheckpointableLayers& layers, const Module* cut = nullptr);

  const Routine& main() const { return *main_; }

 private:
  Routine& bind(const Body& body, Module& module, int line);
  void bind(const std::vector<Statement>& statements, Routine& routine, const Statement* repeat);
  void bind_attribute(Routine& routine, const std::string& path) const;
  Target target(const Statement& statement, const Routine& routine, const std::string& path);
  Module& find(Module& from, std::string_view path, int line) const;
  bool is_elsewhere(Module& from, const std::string& path, int line) const;
  [[noreturn]] void fail(int line, const std::string& what, const std::string& hint = {}) const;

  const Program& program_;
  Module& root_;
  const CheckpointableLayers& layers_;
  const Module* cut_;
  std::set<std::string, std::less<>> given_;  // names of attributes that some body gives a value
  std::map<std::pair<const Body*, const Module*>, Routine> routines_;
  const Routine* main_;
};

}  // namespace tidemark
