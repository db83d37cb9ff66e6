// Runs a program on the tape: values live as long as it says.
#pragma once
#include <memory>
#include <vector>

#include "nn/context.h"
#include "nn/model.h"
#include "program/routine.h"

namespace tidemark {

class FunctionCall;

class Interpreter {
 public:
  /// All of them outlive it.  `checks_sizes`: tensors are whole, so they are as large as the program says.
  Interpreter(const Program& program, const Routine& main, const Context& context, Dtype weights, bool checks_sizes)
      : program_(program),
        main_(main),
        context_(context),
        weights_(weights),
        checks_sizes_(checks_sizes),
        is_of_generation_(generates(program)) {}

  ~Interpreter();

  /// Inputs are in the order of the main body's parameters, `symbols` in the program's.
  /// `cache`: tensors that the pass before this one held, for statements `unseen`.
  ModelOutputs forward(Run& run, Tensors inputs, std::vector<std::int64_t> symbols,
                       std::vector<Tensor> cache = {}) const;
  /// Of a main body that begins with a call: what that gives (nn/fused_head.h).
  Tensors backbone(Run& run, Tensors inputs, std::vector<std::int64_t> symbols) const;

 private:
  struct Pass;
  struct Frame;
  struct Dict;
  using PassRef = std::shared_ptr<Pass>;
  using DictRef = std::shared_ptr<Dict>;

  DictRef made_dict() const;
  void run(const std::vector<Statement>& statements, Frame& frame, std::size_t round) const;
  void run(const Statement& statement, Frame& frame, std::size_t round) const;
  void function(const Statement& statement, Frame& frame) const;
  static Tensors with_parameter_hooks(const Statement& statement, Frame& frame, FunctionCall& call);
  void call(const Statement& statement, Frame& frame, std::size_t round) const;
  void keep(const Statement& statement, Frame& frame) const;
  void hold(Tensor& value, Frame& frame) const;
  void find_made(Frame& frame) const;
  /// What the frame's body begins with.
  void begin(Frame& frame, Tensors inputs) const;
  void repeat(const Statement& statement, Frame& frame) const;
  void appear(const Statement& statement, Frame& frame) const;
  Tensor from_cache(const Statement& statement, const Result& result, Frame& frame) const;
  /// A value that goes to another body; an error where it is done with.
  Tensor taken(const Statement& statement, const Frame& frame, const Argument& argument) const;
  void leave(const Statement& statement, Frame& frame) const;
  static void note_left(Frame& frame, const Tensor& value);
  static void share(const Tensor& value, const Pass& pass, Dict& dict);
  static void share_inputs(const Body& body, const Tensors& inputs, const Pass& pass, Dict& dict);
  static void share_results(const Body& body, const Tensors& results, const Pass& pass, Dict& dict);
  void put_again(Frame& frame) const;
  static Dims said_sizes(const Result& result, const Tensor& tensor, const Frame& frame);
  void check_sizes(const Statement& statement, const Tensor& tensor, const Dims& said) const;
  void give(const Statement& statement, Frame& frame, Tensors results) const;
  Tensors routine(const Routine& routine, Tensors inputs, const PassRef& pass) const;
  Tensors module(const Target& target, Tensors inputs, const PassRef& pass) const;
  Tensors checkpointed(const Target& target, Tensors inputs, const Frame& from) const;
  [[noreturn]] void fail(const Statement& statement, const std::string& what) const;

  const Program& program_;
  const Routine& main_;
  const Context& context_;
  const Dtype weights_;
  const bool checks_sizes_, is_of_generation_;
  /// Those that are not gone: they hold what holds them, until backward comes by or this ends.
  mutable std::vector<std::weak_ptr<Dict>> dicts_;
  mutable std::map<std::pair<const Routine*, std::size_t>, Tensor> kept_;      // by objects that outlive the outputs
  mutable std::map<std::pair<const Module*, std::string_view>, Tensor> made_;  // attributes that the trees have not
};

}  // namespace tidemark
