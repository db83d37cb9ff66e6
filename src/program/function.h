// A function of torch as captured programs call it: its names, its parameters, and the operation that it is here.  They
// stand in files by kind, functions_*.cpp; docs/howto/add-a-torch-function.md.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ops.h"
#include "program/program.h"

namespace tidemark {

/// One call, its arguments in the order of the function's parameters.
class FunctionCall {
 public:
  FunctionCall(const Statement& statement, const Values& values, Run& in)
      : run(in), statement_(statement), arguments_(statement.bound), values_(values) {}

  Run& run;

  /// Whether the module that calls it is frozen as a whole.
  bool is_frozen() const { return values_.module && values_.module->is_frozen; }
  /// Of a module's experts as many as a strategy has left it.  transformers 5.17.0: distributed/tensor_parallel.py,
  /// MoEParamShard sets num_experts
  std::int64_t of_experts(std::int64_t count) const;

  /// Whether it is there, and not None.
  bool given(std::size_t parameter) const;
  bool is_tensor(std::size_t parameter) const;
  const Argument& argument(std::size_t parameter) const;

  Tensor tensor(std::size_t parameter) const;
  Tensor tensor_if_given(std::size_t parameter) const { return given(parameter) ? tensor(parameter) : Tensor(); }
  /// Of a list, or of the list's own items where a function takes as many as there are.
  Tensors tensors(std::size_t parameter) const;
  Dims dims(std::size_t parameter) const;
  /// As the program says them of a tensor that is here a part of that; none where it is whole.
  const Dims* whole_sizes(std::size_t parameter) const;
  /// As many as there are.
  std::vector<std::int64_t> integers(std::size_t parameter) const;
  std::int64_t integer(std::size_t parameter) const;
  std::int64_t integer_or(std::size_t parameter, std::int64_t usual) const {
    return given(parameter) ? integer(parameter) : usual;
  }
  int dimension(std::size_t parameter) const;
  double real_or(std::size_t parameter, double usual) const;
  bool flag_or(std::size_t parameter, bool usual) const;
  /// A probability of dropout; 0 where the run has turned it off.
  double dropout_or(std::size_t parameter, double usual) const;
  std::optional<Dtype> dtype(std::size_t parameter) const;
  /// The type that a tensor is made of: where nothing is said that of PyTorch's tensors of floats.
  Dtype dtype_or(std::size_t parameter, Dtype usual) const { return dtype(parameter).value_or(usual); }

  /// In its place, where a strategy has changed it.
  void replace(std::size_t parameter, Tensor tensor);

  // What the program says of its results; of the first where none is named.
  std::size_t results() const { return statement_.results.size(); }
  Dims result_sizes(std::size_t result = 0) const;
  Dtype result_dtype() const;
  bool has_result() const { return results() > 0; }
  /// Whether the host reads numbers of a list from tensors, for which it waits: what they are the results tell.
  bool reads_tensors(std::size_t parameter) const;

  // Of an argument that is itself part of one.
  Tensor tensor_of(const Argument& argument) const;
  std::int64_t integer_of(const Argument& argument) const;

  /// Throws Error{unsupported}: "torch.softmax over another dimension than the last".
  [[noreturn]] void refuse(const std::string& what) const;
  void require(bool holds, const char* otherwise) const {
    if (!holds) refuse(otherwise);
  }

 private:
  const TensorType& result_type(std::size_t result) const;
  /// Whether an nn.Dropout says a probability: the module itself, or one of attention, whose `p` a kernel is given.
  bool is_of_dropout_module() const;

  const Statement& statement_;
  std::span<const Argument* const> arguments_;
  const Values& values_;
  std::vector<Tensor> replaced_;  // by parameter
};

struct Function {
  /// Apart from each other by blanks, without what stands in front of a dot, unless names differ in that alone.
  std::string_view names;
  /// Likewise; a `*` in front of the last takes all further positional arguments as a list.
  std::string_view parameters;
  Tensors (*run)(FunctionCall& call);
};

/// Whatever torch calls it: "torch.add", "Tensor.__radd__"; nullptr where there is none.
const Function* find_function(std::string_view name);
/// The place of a parameter; none where there is no such.
std::optional<std::size_t> parameter_place(const Function& function, std::string_view name);
std::size_t parameter_count(const Function& function);

}  // namespace tidemark
