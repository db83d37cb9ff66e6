// torch.nn.Module: a tree of named parameters, in the order in which the reference registers them, so that
// loading, freezing and adapters see what they would see there.
#pragma once
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ops.h"

namespace tidemark {

class Module;
struct QuantizedWeight;

/// A parameter or a buffer.  `sizes` are known before there is memory.
struct Parameter {
  std::string name;
  Dims sizes;
  Dtype dtype = Dtype::f32;
  bool is_buffer = false;
  bool trains = true;  // as soon as there is memory
  Tensor tensor = {};
  /// How it gets onto the card, where that is no copy of what the host has.
  Tensor (*load)(Run& run, Module& module) = nullptr;
};

/// What calling a module does to one tensor: nn.Linear, an activation, an adapter around either.
using Forward = Tensor (*)(Module& module, Tensor x);

/// What a strategy hangs on the calls of a module, in the order of a call.  Empty ones are not called.
/// torch: register_forward_pre_hook, register_forward_hook
struct ModuleHooks {
  std::function<void(Module& module)> entered;
  std::function<void(Module& module, Tensor& argument)> replace_argument;  // of each, in front of the next
  /// Of each tensor among the positional arguments that may need a gradient; of others too where `sees_keywords`.
  std::function<void(Module& module, Tensor& input)> before_forward;
  bool sees_keywords = false;
  std::function<void(Module& module)> returning;  // in front of what follows
  /// Of each tensor that it returns.
  std::function<void(Module& module, Tensor& output)> after_forward;
  // The same of a module that takes several tensors, or returns them.
  std::function<void(Module& module, Tensors& inputs)> before_forward_of_several;
  std::function<void(Module& module, Tensors& outputs)> after_forward_of_several;
  /// The call is over, though it may not have returned: a checkpoint runs a layer again no further than it must.
  std::function<void(Module& module)> over;
  /// In front of its own parameters, when they get their memory.
  std::function<void(Run& run)> before_load;
  /// Somebody asks for `module.weight`, whoever that is.  torch: Module.__getattr__
  std::function<void(const Module& module, Parameter& parameter)> asked_for;
  /// DTensor.full_tensor() of a parameter that may be in parts while nobody calls its module.
  std::function<Tensor(const Parameter& parameter)> full_tensor;
};

class Module {
 public:
  explicit Module(std::string full_name = {}, Forward own_forward = nullptr)
      : forward(own_forward), full_name_(std::move(full_name)), name_start_(full_name_.rfind('.') + 1) {}

  /// A new child, registered last.
  Module& add(std::string_view name, Forward child_forward = nullptr);
  /// Of the module's own type.
  Module& parameter(std::string_view name, const Dims& sizes);
  Module& buffer(std::string_view name, const Dims& sizes, Dtype buffer_dtype);
  /// Makes this module's parameter the same tensor as another's.
  void tie(std::string_view name, Module& other, std::string_view other_name);

  Module& operator[](std::string_view name);
  /// Of an nn.ModuleList.
  Module& operator[](std::size_t index) { return *children_[index]; }
  bool has(std::string_view name) const;
  const Tensor& operator()(std::string_view name) const {
    if (quantized) refuse_packed(name);
    Parameter& parameter = get(name);
    if (hooks && hooks->asked_for) hooks->asked_for(*this, parameter);
    return parameter.tensor;
  }
  Parameter& get(std::string_view name) const;
  bool has_parameter(std::string_view name) const;

  /// module(x): the arguments live until it returns, as Python's argument tuple does.
  Tensor operator()(Tensor x);

  /// "" for the root, which reports call by `class_name`.
  const std::string& full_name() const { return full_name_; }
  std::string_view name() const { return std::string_view(full_name_).substr(name_start_); }
  /// Of a child of an nn.ModuleList: its place there, which it keeps when others leave the list.
  std::size_t place() const;
  /// Whether its name is a number.
  bool has_place() const;
  std::vector<std::unique_ptr<Module>>& children() { return children_; }
  const std::vector<std::unique_ptr<Module>>& children() const { return children_; }
  std::vector<std::shared_ptr<Parameter>>& parameters() { return parameters_; }
  std::uint32_t number() const { return number_; }

  /// nn.Identity in its place.
  void become_identity();

  /// Module.to(device): children first, then its own parameters, then its buffers.
  void to_device(Run& run) {
    name_in(run);
    load(run);
  }
  /// The two parts of it: reports know the modules; what has no memory yet gets it.
  void name_in(Run& run);
  void load(Run& run);

  Forward forward;
  std::string class_name = "-";  // of the root, as in the reference: "LlamaForCausalLM"; of a program, of every module
  Dtype dtype = Dtype::f32;      // of its parameters; children begin with their parent's
  bool training = true;
  bool is_adapted = false;     // adapters are around what it was, its base_layer
  bool is_layer_norm = false;  // an nn.LayerNorm: trainers let its weights not decay
  double probability = 0;      // of a dropout
  std::optional<bool>
      is_output_embedding;             // of the model that it is in: get_output_embeddings(); else its name says it
  bool output_requires_grad = false;   // a forward hook: output.requires_grad_(True)
  bool is_frozen = false;              // as a whole, and it knows: transformers' freeze_feature_encoder()
  const ModuleHooks* hooks = nullptr;  // not owned
  Tensors attributes;                  // what a forward leaves behind that is no buffer
  std::shared_ptr<QuantizedWeight> quantized;  // what its weight stands for; of others nothing (nn/quantization.h)
  std::vector<std::string> wrappers;  // around the root: modules that are called in its place, the outermost first

 private:
  /// Throws Error{unsupported} for a weight that its own module alone can read.
  void refuse_packed(std::string_view name) const;

  std::string full_name_;
  std::size_t name_start_;    // behind its last dot
  std::uint32_t number_ = 0;  // in the run
  std::vector<std::unique_ptr<Module>> children_;
  std::vector<std::shared_ptr<Parameter>> parameters_;
};

/// The module whose forward is running, for the ledger.
struct InModule : Setting<std::uint32_t> {
  InModule(Run& run, const Module& module) : Setting(run.module, module.number()) {}
};

/// module(...): its forward from entering it to its outputs, with the hooks of strategies.  They may replace the inputs
/// and outputs that are named here; what is passed by keyword they do not see, as in torch.
class Call {
 public:
  /// An argument that is passed by its name.
  struct Keyword {
    Tensor& tensor;
  };

  Call(Run& run, Module& module) : module_(module), scope_(run, module) {
    if (!module_.hooks) return;
    ++run.side_effects;
    if (module_.hooks->entered) module_.hooks->entered(module_);
  }
  Call(Module& module, Tensor& input) : Call(input.run(), module) {
    if (module_.hooks && module_.hooks->replace_argument) module_.hooks->replace_argument(module_, input);
    takes(input);
  }
  Call(Module& module, Keyword input) : Call(input.tensor.run(), module) {
    if (module_.hooks && module_.hooks->sees_keywords) takes(input.tensor);
  }
  Call(Module& module, std::initializer_list<Tensor*> inputs) : Call((*inputs.begin())->run(), module) {
    for (Tensor* input : inputs) takes(*input);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (module_.hooks && module_.hooks->over) module_.hooks->over(module_);
  }

  void takes_several(Tensors& inputs) const {
    if (module_.hooks && module_.hooks->before_forward_of_several)
      module_.hooks->before_forward_of_several(module_, inputs);
  }

  Tensor returns(Tensor output) const {
    if (module_.hooks) returns(std::vector<Tensor*>{&output});
    return output;
  }
  Tensors returns(Tensors outputs) const {
    if (module_.hooks && module_.hooks->after_forward_of_several)
      module_.hooks->after_forward_of_several(module_, outputs);
    return outputs;
  }
  /// Several, of which some may be empty.
  void returns(const std::vector<Tensor*>& outputs) const {
    if (!module_.hooks) return;
    if (module_.hooks->returning) module_.hooks->returning(module_);
    if (!module_.hooks->after_forward) return;
    for (Tensor* output : outputs)
      if (*output) module_.hooks->after_forward(module_, *output);
  }

 private:
  void takes(Tensor& input) const {
    if (module_.hooks && module_.hooks->before_forward) module_.hooks->before_forward(module_, input);
  }

  Module& module_;
  InModule scope_;
};

/// As state_dict and named_parameters name it.
std::string full_name(const Module& module, const Parameter& parameter);

/// [p for p in module.parameters() if p.requires_grad]
std::vector<Tensor> trainable_parameters(Module& module);

/// Calls visit(module, parameter) once per parameter, as Module.named_parameters does: own first, then children.
template <class Visit>
void visit_parameters(Module& module, Visit&& visit) {
  std::vector<const Parameter*> seen;
  visit_parameters(module, visit, seen);
}

template <class Visit>
void visit_parameters(Module& module, Visit&& visit, std::vector<const Parameter*>& seen) {
  for (const std::shared_ptr<Parameter>& parameter : module.parameters()) {
    if (parameter->is_buffer) continue;
    if (parameter.use_count() > 1) {  // tied: it counts where it stands first
      if (std::find(seen.begin(), seen.end(), parameter.get()) != seen.end()) continue;
      seen.push_back(parameter.get());
    }
    visit(static_cast<const Module&>(module), *parameter);
  }
  for (const std::unique_ptr<Module>& child : module.children()) visit_parameters(*child, visit, seen);
}

}  // namespace tidemark
