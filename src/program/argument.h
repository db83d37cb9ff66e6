// An argument as a captured program writes it, and the values that it may name.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "nn/module.h"
#include "program/expression.h"

namespace tidemark {

struct Argument {
  enum class Kind : std::uint8_t {
    none,
    flag,
    number,     // a whole one
    real,       // `float` where it does not matter which
    text,       // a mode, a device, data
    dtype,      // bfloat16; T, that of the weights, where `flag` is set
    dtype_of,   // of the value that is its only item
    value,      // %1, $x
    attribute,  // self.weight
    list,       // of arguments: [1, 2], (1, 2)
    slice,      // start:end:step, each a number or none
    ellipsis
  };

  Kind kind = Kind::none;
  bool flag = false;
  Dtype dtype = Dtype::f32;
  std::size_t place = 0;  // of a value or an attribute
  double real = 0;
  Expression number = {};
  std::string text = {};
  std::vector<Argument> items = {};
};

/// What is alive while a body runs: its values by place, the module's attributes, the symbols.
struct Values {
  std::vector<Tensor> tensors;
  std::span<const std::int64_t> symbols;
  const Module* module = nullptr;  // that the body is called on
  Dtype weights = Dtype::f32;      // T
  /// self.weight: of which module, under which name.
  struct Attribute {
    Module* module;
    std::string_view name;
    bool is_made = false;  // by a forward: the module's tree has none of that name

    /// The module that has it now: an adapter takes a module's parameters into its base layer.
    Module& owner() const {
      return !module->has_parameter(name) && module->has("base_layer") ? (*module)["base_layer"] : *module;
    }
  };
  std::span<const Attribute> attributes;
  std::vector<Dims> whole = {};       // sizes as the program says them, by place, of values that are parts of these
  std::vector<Tensor> assigned = {};  // attributes that this body gave another tensor, by place

  Tensor tensor(const Argument& argument) const {
    if (argument.kind != Argument::Kind::attribute) return tensors[argument.place];
    if (!assigned.empty() && assigned[argument.place]) return assigned[argument.place];
    const Attribute& attribute = attributes[argument.place];
    return attribute.is_made ? Tensor() : attribute.owner()(attribute.name);
  }

  /// Of a weight as it is now, without asking for it.
  Dtype dtype_of(const Argument& argument) const {
    const Attribute& attribute = attributes[argument.place];
    return attribute.is_made ? tensor(argument).dtype() : attribute.owner().get(attribute.name).tensor.dtype();
  }
};

}  // namespace tidemark
