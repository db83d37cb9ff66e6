#include "parallel/tensor_parallel.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/layers.h"

namespace tidemark {
namespace {

/// fnmatch, of one part of a name: `*` and `?`.  Goes back to the last `*` alone, so no pattern takes long.
bool matches(std::string_view text, std::string_view pattern) {
  std::size_t at = 0, in_pattern = 0, star = std::string_view::npos, after_star = 0;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = at;
    } else if (in_pattern < pattern.size() && (pattern[in_pattern] == '?' || pattern[in_pattern] == text[at])) {
      ++at, ++in_pattern;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

/// The modules that a pattern names, in the order in which parallelize_module comes to them.
void collect(Module& module, std::string_view pattern, std::vector<Module*>& found) {
  const std::size_t dot = pattern.find('.');
  const std::string_view rest = dot == std::string_view::npos ? "" : pattern.substr(dot + 1);
  for (const std::unique_ptr<Module>& child : module.children()) {
    if (!matches(child->name(), pattern.substr(0, dot))) continue;
    if (rest.empty())
      found.push_back(child.get());
    else
      collect(*child, rest, found);
  }
}

/// nn.Identity in the place of what other stages have.
bool is_empty(Module& module) { return module.children().empty() && module.parameters().empty(); }

[[noreturn]] void refuse(const Module& module, const std::string& message, const std::string& hint = {}) {
  throw Error(Errc::unsupported, fmt::format("{}: {}", module.full_name(), message), "tp.plan", hint);
}

/// _MaskPartial._mask_tensor: the mask of ids that other devices hold, which waits for the sum, and the rows of this
/// one's part.
Tensor split_embedding_forward(Module& m, Tensor indices) {
  const Tensor input_ids = std::move(indices);
  Run& run = input_ids.run();
  const Op op(run, "aten::embedding");
  const auto like = [&](Dtype dtype) { return empty(run, input_ids.sizes(), dtype); };
  {
    const Tensor below = like(Dtype::boolean), above = like(Dtype::boolean);
    m.attributes.push_back(like(Dtype::boolean));
  }
  Tensor rows;
  {
    const Tensor copy = like(input_ids.dtype());
    rows = like(input_ids.dtype());
  }
  return embedding(m("weight"), input_ids);
}

/// The bias is added on every device, and divided by their number before: Partial._partition_value.  Its quotient comes
/// between the casts of autocast and the product.
Tensor split_bias_forward(Module& m, Tensor x) {
  const Tensor argument = std::move(x);
  const Op op(argument, "aten::linear");
  const Tensor bias = autocast_low(m("bias"));
  const Tensor weight = autocast_low(m("weight"));
  const Tensor input = autocast_low(argument);
  const Tensor quotient = empty_like(bias);
  return linear(input, weight, bias);
}

}  // namespace

struct TensorParallel::Planned {
  Module* module = nullptr;
  ModuleHooks hooks = {};
  bool called = false;
};

TensorParallel::TensorParallel(Run& run, Module& root, const Mesh& mesh, const std::vector<ParallelRule>& plan,
                               bool is_stage)
    : mesh_(mesh) {
  const Setting<Category> category(run.category, Category::parameters);
  for (const ParallelRule& rule : plan) {
    if (rule.pattern.find('[') != std::string::npos)
      throw Error(Errc::unsupported, fmt::format("{}: of patterns, * and ? are known", rule.pattern), "tp.plan");
    std::vector<Module*> found;
    collect(root, rule.pattern, found);
    if (is_stage) std::erase_if(found, [](Module* module) { return is_empty(*module); });
    if (found.empty() && !is_stage)
      throw Error(Errc::bad_value, fmt::format("no module is called {}", rule.pattern), "tp.plan",
                  "a * stands for one name between dots: model.layers.*.self_attn.q_proj");
    for (Module* module : found) apply(run, *module, rule);
  }
}

TensorParallel::~TensorParallel() {
  for (const std::unique_ptr<Planned>& planned : planned_) planned->module->hooks = nullptr;
}

void TensorParallel::localize(Module& root) {
  visit_parameters(root, [&](const Module&, Parameter& parameter) {
    TensorImpl& impl = parameter.tensor.impl();
    if (!impl.distributed) return;
    locals_.emplace_back(&parameter, placement_of(parameter.tensor));
    impl.distributed = false;
    impl.split = -1;
    impl.requires_grad = true;
  });
}

void TensorParallel::reconstruct() {
  for (const auto& [parameter, gradient] : locals_) {
    const Placement first = Placement::split(0), whole{};  // along which dimension matters to whole gradients alone
    Tensor& tensor = parameter->tensor;
    switch (gradient) {
      case GradientPlacement::whole: tensor = from_local(tensor, first, whole, mesh_); break;
      case GradientPlacement::sums: tensor = from_local(tensor, whole, Placement::sums(), mesh_); break;
      default: tensor = from_local(tensor, whole, whole, mesh_);
    }
  }
  locals_.clear();
}

void TensorParallel::check_called() const {
  for (const std::unique_ptr<Planned>& planned : planned_)
    if (!planned->called) refuse(*planned->module, "hooks on it are not simulated");
}

GradientPlacement TensorParallel::placement_of(const Tensor& parameter) const {
  if (!parameter.impl().distributed) return GradientPlacement::plain;
  if (mesh_.devices == 1) return GradientPlacement::replicated;  // nothing moves
  for (const auto& [impl, placement] : placements_)
    if (impl == &parameter.impl()) return placement;
  return GradientPlacement::part;
}

/// distribute_tensor on the device: rank 0 scatters contiguous parts.
void TensorParallel::split(Run& run, Module& module, std::string_view name, int dimension) {
  for (std::shared_ptr<Parameter>& parameter : module.parameters()) {
    if (parameter->name != name) continue;
    const Tensor whole = parameter->tensor;
    Layout part = whole.layout();
    if (part.sizes[dimension] % mesh_.devices != 0)
      refuse(module, fmt::format("{} is not a multiple of {} devices", part.sizes[dimension], mesh_.devices),
             "parts of different sizes are not simulated");
    part.sizes[dimension] /= mesh_.devices;
    Tensors scatter_list;
    for (std::int64_t device = 0; device < mesh_.devices && !part.is_contiguous(); ++device)
      scatter_list.push_back(empty(run, part.sizes, whole.dtype()));
    const InModule scope(run, module);
    const Op op(run, "aten::empty_like");
    auto split = std::make_shared<Parameter>(*parameter);
    split->tensor = empty(run, part.sizes, whole.dtype());
    split->tensor.impl().requires_grad = whole.requires_grad();
    split->tensor.impl().distributed = true;
    parameter = std::move(split);  // of this module alone: what was tied is so no more
  }
}

/// What is the same on every device is sent to them where it lies.
void TensorParallel::replicate(Module& module, std::string_view name) {
  for (std::shared_ptr<Parameter>& parameter : module.parameters())
    if (parameter->name == name) {
      parameter->tensor.impl().distributed = true;
      placements_.emplace_back(&parameter->tensor.impl(), GradientPlacement::replicated);
    }
}

void TensorParallel::split_linear(Run& run, Module& module, ParallelStyle style) {
  TensorList wholes;  // named_parameters keeps what it has shown till its end
  if (style == ParallelStyle::colwise)
    for (const std::shared_ptr<Parameter>& parameter : module.parameters()) wholes.push_back(parameter->tensor);
  split(run, module, "weight", style == ParallelStyle::colwise ? 0 : 1);
  if (!module.has_parameter("bias")) return;
  if (style == ParallelStyle::colwise) return split(run, module, "bias", 0);
  replicate(module, "bias");
  if (mesh_.devices > 1) module.forward = split_bias_forward;
}

void TensorParallel::split_embedding(Run& run, Module& module) {
  split(run, module, "weight", 0);
  if (mesh_.devices == 1) return;
  TensorImpl& weight = module("weight").impl();
  weight.split = 0;  // its gradient is the whole one: embedding_dense_backward_strategy, _ops/_embedding_ops.py
  weight.parts = static_cast<std::int32_t>(mesh_.devices);
  placements_.emplace_back(&weight, GradientPlacement::whole);
  module.forward = split_embedding_forward;
}

/// SequenceParallel._replicate_module_fn: parameters made anew, which therefore train.
void TensorParallel::replicate_all(Module& module) {
  for (const std::shared_ptr<Parameter>& parameter : module.parameters()) {
    if (parameter->is_buffer) continue;
    parameter->tensor.impl().distributed = true;
    parameter->tensor.impl().requires_grad = true;
    if (mesh_.devices > 1)  // each device has the sum over its tokens
      placements_.emplace_back(&parameter->tensor.impl(), GradientPlacement::sums);
  }
}

void TensorParallel::apply(Run& run, Module& module, const ParallelRule& rule) {
  if (module.hooks) refuse(module, "it is named twice, or another strategy has it");
  const bool embedding = is_embedding(module), linear = is_linear(module);
  if (rule.style == ParallelStyle::colwise || rule.style == ParallelStyle::rowwise) {
    if (module.has("base_layer"))
      refuse(module, "it is an adapter now",
             "name base_layer, and lora_B.default (colwise) or lora_A.default (rowwise) beside it");
    if (!embedding && !linear)
      refuse(module, "it is no nn.Linear or nn.Embedding, which are what PyTorch splits, or one that does more");
    if (embedding && rule.style == ParallelStyle::colwise) refuse(module, "an embedding is split by rows here");
    linear ? split_linear(run, module, rule.style) : split_embedding(run, module);
  } else if (rule.style == ParallelStyle::sequence) {
    replicate_all(module);
  }
  planned_.push_back(std::make_unique<Planned>(Planned{.module = &module}));
  hook(*planned_.back(), rule, embedding);
  module.hooks = &planned_.back()->hooks;
}

void TensorParallel::hook(Planned& planned, const ParallelRule& rule, bool is_embedding) {
  const Mesh mesh = mesh_;
  const Placement whole{}, last = Placement::split(-1), sums = Placement::sums();
  // Of the module's inputs, what comes, what it takes, and how their gradient lies; of its outputs likewise.
  Placement in = whole, takes = whole, in_gradient = sums, makes = last, out = last;
  bool use_local_output = rule.use_local_output.value_or(true), has_input = true, has_output = true, async_op = true;
  switch (rule.style) {
    case ParallelStyle::colwise: break;
    case ParallelStyle::rowwise:
      in = takes = in_gradient = is_embedding ? whole : last;
      makes = sums, out = whole;
      has_input = !is_embedding;
      break;
    case ParallelStyle::sequence:
      in = takes = in_gradient = makes = out = Placement::split(1);
      use_local_output = rule.use_local_output.value_or(false);
      break;
    case ParallelStyle::prepare_input:
      takes = rule.desired_layouts;
      has_output = async_op = false;
      in_gradient = rule.use_local_output.value_or(false) ? takes : takes == whole ? sums : takes;
      break;
    case ParallelStyle::prepare_output:
      has_input = async_op = false;
      out = rule.desired_layouts;
      break;
  }
  in = rule.input_layouts.value_or(in);
  if (rule.style == ParallelStyle::prepare_output)
    makes = rule.output_layouts.value_or(makes);
  else
    out = rule.output_layouts.value_or(out);
  const bool input_is_local = rule.style == ParallelStyle::prepare_input && rule.use_local_output.value_or(false);
  planned.hooks.sees_keywords = true;
  planned.hooks.before_forward = [&planned, mesh, in, takes, in_gradient, async_op, has_input, input_is_local](
                                     Module&, Tensor& x) {
    planned.called = true;
    if (!has_input) return;
    if (!x.impl().distributed) x = from_local(x, in, in == takes ? in_gradient : in, mesh);
    if (in != takes) x = redistribute(x, in, takes, in_gradient, mesh, async_op);
    if (input_is_local) x = to_local(x);
  };
  if (!has_output) return;
  planned.hooks.after_forward = [mesh, makes, out, async_op, use_local_output](Module& m, Tensor& y) {
    if (!y.impl().distributed) y = from_local(y, makes, makes, mesh);
    m.attributes.clear();
    if (makes != out) y = redistribute(y, makes, out, out, mesh, async_op);
    y = use_local_output ? to_local(y) : known_as(std::move(y), out, mesh);
  };
}

}  // namespace tidemark
