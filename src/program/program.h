// A captured program as its file says it: docs/reference/programs.md has the grammar.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/value.h"
#include "program/argument.h"
#include "program/sample_lengths.h"
#include "program/unread_key.h"

namespace tidemark {

struct Function;

struct TensorType {
  bool of_weights = false;  // T: the type that the weights are asked for in
  Dtype dtype = Dtype::f32;
  std::vector<Expression> sizes = {};
  bool on_host = false;
};

/// The kinds of layers, one by one, by the path of the list that says them.
using LayerOrders = std::map<std::string, std::vector<std::string>, std::less<>>;

struct ParameterDeclaration {
  std::string name;
  TensorType type = {};
  std::string tied_to = {};  // "model.embed_tokens.weight"; empty: a parameter of its own
  bool is_buffer = false, frozen = false;
  int line = 0;
};

struct ModuleDeclaration {
  std::string name;
  bool repeats = false;  // under each number from `first` to `last`
  Expression first = {}, last = {};
  bool goes_round = false;  // and so many further, up to the end, in turn with those beside it that do
  Expression step = {}, end = {};
  std::string order = {}, kind = {};  // or under those numbers at which a list of layers' kinds has this one
  std::string class_name;
  bool checkpointable = false;  // a GradientCheckpointingLayer
  std::vector<ParameterDeclaration> parameters = {};
  std::vector<ModuleDeclaration> children = {};
  int line = 0;
};

struct Result {
  enum class Of : std::uint8_t { value, attribute };
  Of of = Of::value;
  std::size_t place = 0;
  bool is_typed = false;  // else it was there before: the function returned what it was given
  TensorType type = {};
};

struct NamedArgument {
  std::string name;  // empty of a positional one of a function; "0" of a module's first
  Argument value = {};
};

struct Statement {
  enum class Kind : std::uint8_t {
    function,
    call,
    apply,
    within,
    drop,
    hold,
    keep,
    once,
    appear,
    grad_mode,
    enter_autocast,
    exit_autocast,
    repeat,
    leave
  };

  Kind kind = Kind::function;
  int line = 0;
  std::string name = {};  // of a function; of a body, "LlamaMLP#1"
  std::string path = {};  // of a module
  std::vector<Result> results = {};
  std::vector<NamedArgument> arguments = {};  // and what is returned
  std::vector<std::size_t> values = {};       // of `del`, `hold`, `keep`; what an attribute keeps is an argument
  bool enabled = false;                       // of a scope
  // Of `repeat`: what a round leaves to the next one, and its statements; these of `once`, too.
  Expression first = {}, last = {};
  std::vector<std::pair<std::size_t, std::size_t>> next = {};
  std::vector<Statement> block = {};
  // Found by name, once all is read; arguments in the order of its parameters.
  const Function* function = nullptr;
  std::vector<const Argument*> bound = {};
  std::vector<Argument> further = {};  // those that a `*` takes
  std::size_t site = 0;                // of a call, among those of its body
  bool shared = false;                 // of one of a layer: "^0" is in a dict that all layers are given
};

struct Body {
  std::string name;                          // "LlamaMLP#1"
  std::vector<std::string> parameters = {};  // "0", "hidden_states"; "^0" of what reaches it otherwise
  std::vector<std::string> values = {};      // names by place: the parameters first
  std::vector<std::string> attributes = {};  // "self.weight", "@model.embed_tokens.weight"
  std::vector<std::size_t> given = {};       // attributes that take a value in it, by place
  std::vector<Statement> statements = {};
  std::size_t sites = 0;            // calls in it
  std::vector<bool> consumed = {};  // by parameter: it dies in here, and the caller has it no more
  int line = 0;
};

/// Where another length goes another way: "S > 32".
struct Condition {
  std::string text, comparison;
  Expression left, right;

  bool holds(std::span<const std::int64_t> symbols) const;
};

struct InputDeclaration {
  std::string name;
  TensorType type;
};

/// Heads of the two programs that generate() calls.
inline bool is_of_generation(std::string_view head) { return head == "prefill" || head == "decode"; }

/// What the batches of GPUs that share the tokens of a sample have besides.
inline bool is_of_sharing(std::string_view input) { return input == "position_ids" || input == "shift_labels"; }

/// Its statements refer to each other: it is moved, never copied.
struct Program {
  Program() = default;
  Program(Program&&) = default;
  Program& operator=(Program&&) = default;

  std::string file;  // for messages
  std::string model_type, class_name, transformers, torch, attention;
  bool is_of_own_module = false;              // of a module that no configuration of transformers tells of
  std::map<std::string, std::string> header;  // all of it
  std::vector<std::string> symbols;           // sizes, then the whole numbers of the configuration
  std::vector<std::int64_t> captured_values;  // of the symbols
  std::size_t sizes = 0;                      // how many symbols are sizes
  std::vector<InputDeclaration> inputs;
  SampleCount count;                                         // of its inputs
  std::vector<Condition> conditions;                         // of the sizes that it holds for
  std::vector<std::pair<Expression, std::int64_t>> counted;  // what rows were written out for (rows.h)
  Value config = {};
  LayerOrders orders;                  // of layers that are of any kinds
  std::vector<UnreadKey> unread = {};  // keys of the configuration that a family's program was bound to
  ModuleDeclaration root = {};
  std::map<std::string, Body> bodies;
  std::string main;  // the last body

  std::string where(int line) const { return file + ":" + std::to_string(line); }
};

/// Reads JSON.
using ReadValue = Value (*)(std::string_view json, const std::string& where);

/// What one configuration makes of a family's program.  program/family.h
struct Binding {
  Value config = {};                                          // with the defaults of what it leaves out
  std::vector<std::pair<std::string, std::int64_t>> numbers;  // its whole numbers, by path
  std::set<std::string> flags;                                // that are true
  LayerOrders orders = {};                                    // its lists of words, by path
  std::vector<std::pair<std::string, std::int64_t>> sizes;    // of the batch, as far as they are known
  std::string main;                                           // the body that the model begins with
  std::map<std::string, std::string> mode;                    // "attention": "sdpa"
  int first_line = 1;                                         // of the text in its file
  std::string release = {};                                   // of transformers, for which it answers
};

/// Reads one; `read_value` reads what is JSON in its header.  Throws Error{bad_file} with the line and the nearest
/// name, and Error{unsupported} with every function that is not simulated.
Program read_program(std::string_view text, const std::string& file, ReadValue read_value,
                     const Binding* binding = nullptr);

/// Finds the functions of all statements, and puts arguments in the order of parameters.
void resolve_functions(Program& program);

/// Whether it is one of the two.
inline bool generates(const Program& program) {
  const auto head = program.header.find("head");
  return head != program.header.end() && is_of_generation(head->second);
}

}  // namespace tidemark
