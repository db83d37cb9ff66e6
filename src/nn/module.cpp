#include "nn/module.h"

#include <charconv>

#include "base/error.h"

namespace tidemark {

Module& Module::add(std::string_view name, Forward child_forward) {
  std::string full;
  full.reserve(full_name_.size() + 1 + name.size());
  full += full_name_;
  if (!full.empty()) full += '.';
  full += name;
  children_.push_back(std::make_unique<Module>(std::move(full), child_forward));
  children_.back()->dtype = dtype;
  return *children_.back();
}

Module& Module::parameter(std::string_view name, const Dims& sizes) {
  parameters_.push_back(std::make_shared<Parameter>(Parameter{std::string(name), sizes, dtype}));
  return *this;
}

Module& Module::buffer(std::string_view name, const Dims& sizes, Dtype buffer_dtype) {
  parameters_.push_back(std::make_shared<Parameter>(Parameter{std::string(name), sizes, buffer_dtype, true, false}));
  return *this;
}

void Module::tie(std::string_view name, Module& other, std::string_view other_name) {
  std::shared_ptr<Parameter> shared;
  for (const auto& parameter : other.parameters_)
    if (parameter->name == other_name) shared = parameter;
  for (auto& parameter : parameters_)
    if (parameter->name == name) parameter = shared;
  TM_CHECK(shared, "nothing to tie to");
}

Module& Module::operator[](std::string_view name) {
  for (const std::unique_ptr<Module>& child : children_)
    if (child->name() == name) return *child;
  TM_CHECK(false, "no module " + std::string(name) + " in " + full_name_);
  return *this;
}

bool Module::has(std::string_view name) const {
  for (const std::unique_ptr<Module>& child : children_)
    if (child->name() == name) return true;
  return false;
}

Parameter& Module::get(std::string_view name) const {
  for (const std::shared_ptr<Parameter>& parameter : parameters_)
    if (parameter->name == name) return *parameter;
  TM_CHECK(false, "no parameter " + std::string(name) + " in " + full_name_);
  return *parameters_.front();
}

void Module::refuse_packed(std::string_view name) const {
  if (name == "weight")
    throw Error(Errc::unsupported, "the model reads the weight of " + full_name_ + " itself, which is quantized",
                "quantization", "leave the module as it is: skip_modules");
}

bool Module::has_parameter(std::string_view name) const {
  for (const std::shared_ptr<Parameter>& parameter : parameters_)
    if (parameter->name == name) return true;
  return false;
}

bool Module::has_place() const {
  return !name().empty() && name().find_first_not_of("0123456789") == std::string_view::npos;
}

std::size_t Module::place() const {
  const std::string_view number = name();
  std::size_t place = 0;
  std::from_chars(number.data(), number.data() + number.size(), place);
  return place;
}

void Module::become_identity() {
  forward = [](Module&, Tensor x) { return x; };
  children_.clear();
  parameters_.clear();
  output_requires_grad = false;
}

Tensor Module::operator()(Tensor x) {
  const Tensor argument = std::move(x);
  Tensor input = argument;
  const Call call(*this, input);
  Tensor result = forward(*this, input);
  if (output_requires_grad) result.impl().requires_grad = true;
  return call.returns(std::move(result));
}

std::string full_name(const Module& module, const Parameter& parameter) {
  return module.full_name().empty() ? parameter.name : module.full_name() + "." + parameter.name;
}

std::vector<Tensor> trainable_parameters(Module& module) {
  std::vector<Tensor> parameters;
  visit_parameters(module, [&](const Module&, Parameter& parameter) {
    if (parameter.tensor.requires_grad()) parameters.push_back(parameter.tensor);
  });
  return parameters;
}

void Module::name_in(Run& run) {
  number_ = run.name_module(full_name_.empty() ? class_name : full_name_);
  for (const std::unique_ptr<Module>& child : children_) child->name_in(run);
}

void Module::load(Run& run) {
  for (const std::unique_ptr<Module>& child : children_) child->load(run);
  if (hooks && hooks->before_load) hooks->before_load(run);
  const InModule scope(run, *this);
  for (const bool buffers : {false, true}) {
    for (const std::shared_ptr<Parameter>& parameter : parameters_) {
      if (parameter->is_buffer != buffers || parameter->tensor) continue;
      parameter->tensor =
          parameter->load ? parameter->load(run, *this) : tidemark::to_device(run, parameter->sizes, parameter->dtype);
      parameter->tensor.impl().requires_grad = !buffers && parameter->trains;
    }
  }
}

}  // namespace tidemark
