#include "program/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "program/function.h"

namespace tidemark {
namespace {

template <class Visit>
void visit_words(std::string_view words, Visit&& visit) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0) visit(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

std::map<std::string_view, const Function*> all_functions() {
  std::map<std::string_view, const Function*> all;
  for (const std::span<const Function> kind :
       {activation_functions(), attention_functions(), creation_functions(), elementwise_functions(), index_functions(),
        matrix_functions(), reduction_functions(), view_functions()})
    for (const Function& function : kind)
      visit_words(function.names, [&](std::string_view name) { all.emplace(name, &function); });
  return all;
}

}  // namespace

const Function* find_function(std::string_view name) {
  static const std::map<std::string_view, const Function*> kAll = all_functions();
  for (const std::string_view known : {name, name.substr(name.rfind('.') + 1)})
    if (const auto found = kAll.find(known); found != kAll.end()) return found->second;
  return nullptr;
}

std::optional<std::size_t> parameter_place(const Function& function, std::string_view name) {
  std::size_t place = 0;
  std::optional<std::size_t> found;
  visit_words(function.parameters, [&](std::string_view known) {
    if (known == name || (known.starts_with('*') && known.substr(1) == name)) found = place;
    ++place;
  });
  return found;
}

std::size_t parameter_count(const Function& function) {
  std::size_t count = 0;
  visit_words(function.parameters, [&](std::string_view) { ++count; });
  return count;
}

const Argument& FunctionCall::argument(std::size_t parameter) const {
  if (!arguments_[parameter]) refuse("an argument missing");
  return *arguments_[parameter];
}

bool FunctionCall::given(std::size_t parameter) const {
  return parameter < arguments_.size() && arguments_[parameter] && arguments_[parameter]->kind != Argument::Kind::none;
}

bool FunctionCall::is_tensor(std::size_t parameter) const {
  const Argument* argument = arguments_[parameter];
  return argument && (argument->kind == Argument::Kind::value || argument->kind == Argument::Kind::attribute);
}

Tensor FunctionCall::tensor(std::size_t parameter) const {
  if (!is_tensor(parameter)) refuse("something else in the place of a tensor");
  if (!replaced_.empty() && replaced_[parameter]) return replaced_[parameter];
  return tensor_of(*arguments_[parameter]);
}

Tensor FunctionCall::tensor_of(const Argument& argument) const {
  Tensor tensor = values_.tensor(argument);
  if (!tensor) refuse("a value that is done with");
  return tensor;
}

Tensors FunctionCall::tensors(std::size_t parameter) const {
  Tensors all;
  for (const Argument& item : argument(parameter).items) {
    const bool is_tensor = item.kind == Argument::Kind::value || item.kind == Argument::Kind::attribute;
    require(is_tensor, "a list of other things than tensors");
    all.push_back(tensor_of(item));
  }
  if (all.empty()) refuse("no tensors");
  return all;
}

void FunctionCall::replace(std::size_t parameter, Tensor tensor) {
  replaced_.resize(arguments_.size());
  replaced_[parameter] = std::move(tensor);
}

std::int64_t FunctionCall::integer_of(const Argument& argument) const {
  if (argument.kind != Argument::Kind::number) refuse("something else in the place of a whole number");
  return argument.number(values_.symbols);
}

std::int64_t FunctionCall::integer(std::size_t parameter) const { return integer_of(argument(parameter)); }

int FunctionCall::dimension(std::size_t parameter) const {
  const std::int64_t d = integer(parameter);
  if (d < -Dims::kMost || d >= Dims::kMost) refuse(fmt::format("dimension {}", d));
  return static_cast<int>(d);
}

Dims FunctionCall::dims(std::size_t parameter) const {
  const std::vector<std::int64_t> numbers = integers(parameter);
  if (numbers.size() > Dims::kMost) refuse(fmt::format("{} dimensions", numbers.size()));
  Dims sizes;
  for (const std::int64_t number : numbers) sizes.push_back(number);
  return sizes;
}

const Dims* FunctionCall::whole_sizes(std::size_t parameter) const {
  const Argument& tensor = argument(parameter);
  const bool is_said = tensor.kind == Argument::Kind::value && tensor.place < values_.whole.size();
  return is_said && values_.whole[tensor.place].count() > 0 ? &values_.whole[tensor.place] : nullptr;
}

std::vector<std::int64_t> FunctionCall::integers(std::size_t parameter) const {
  const Argument* given = &argument(parameter);
  if (given->kind == Argument::Kind::number) return {integer_of(*given)};
  if (given->items.size() == 1 && given->items[0].kind == Argument::Kind::list) given = &given->items[0];
  std::vector<std::int64_t> numbers;
  for (const Argument& item : given->items) numbers.push_back(integer_of(item));
  return numbers;
}

double FunctionCall::real_or(std::size_t parameter, double usual) const {
  if (!given(parameter)) return usual;
  const Argument& number = argument(parameter);
  return number.kind == Argument::Kind::real ? number.real : static_cast<double>(integer_of(number));
}

bool FunctionCall::is_of_dropout_module() const {
  const auto is_dropout = [](const Module& module) { return module.class_name == "nn.Dropout"; };
  const Module* const module = values_.module;
  return module && (is_dropout(*module) || std::ranges::any_of(module->children(), [&](const auto& child) {
                      return is_dropout(*child) && child->name().starts_with("att");
                    }));
}

double FunctionCall::dropout_or(std::size_t parameter, double usual) const {
  return run.evaluates || (run.dropout_modules_off && is_of_dropout_module()) ? 0 : real_or(parameter, usual);
}

bool FunctionCall::flag_or(std::size_t parameter, bool usual) const {
  if (!given(parameter)) return usual;
  if (argument(parameter).kind != Argument::Kind::flag) refuse("something else in the place of True or False");
  return argument(parameter).flag;
}

std::optional<Dtype> FunctionCall::dtype(std::size_t parameter) const {
  if (!given(parameter)) return std::nullopt;
  const Argument& type = argument(parameter);
  if (type.kind == Argument::Kind::dtype_of) {
    if (type.items[0].kind == Argument::Kind::value) return tensor_of(type.items[0]).dtype();
    return values_.dtype_of(type.items[0]);
  }
  if (type.kind != Argument::Kind::dtype) refuse("something else in the place of a type");
  return type.flag ? values_.weights : type.dtype;
}

const TensorType& FunctionCall::result_type(std::size_t result) const {
  if (results() <= result || !statement_.results[result].is_typed) refuse("no sizes of its result");
  return statement_.results[result].type;
}

Dims FunctionCall::result_sizes(std::size_t result) const {
  Dims sizes;
  for (const Expression& size : result_type(result).sizes) sizes.push_back(size(values_.symbols));
  return sizes;
}

std::int64_t FunctionCall::of_experts(std::int64_t count) const {
  constexpr std::string_view kOfAll = "gate_up_proj";
  const bool has_some = values_.module && values_.module->has_parameter(kOfAll);
  return has_some ? std::min(count, values_.module->get(kOfAll).sizes[0]) : count;
}

bool FunctionCall::reads_tensors(std::size_t parameter) const {
  bool reads = false;
  for (const Argument& item : argument(parameter).items) {
    if (item.kind != Argument::Kind::value) continue;
    reads = true;
    if (tensor_of(item).impl().storage->id != kNoBytes) run.stream_calls.host_waits();
  }
  return reads;
}

Dtype FunctionCall::result_dtype() const { return result_type(0).of_weights ? values_.weights : result_type(0).dtype; }

void FunctionCall::refuse(const std::string& what) const {
  throw Error(Errc::unsupported, fmt::format("{} with {} is not simulated", statement_.name, what));
}

}  // namespace tidemark
