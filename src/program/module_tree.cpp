#include "program/module_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "nn/embeddings.h"
#include "nn/layers.h"

namespace tidemark {
namespace {

/// Modules that adapters and strategies know by their forward; all others run what the program says.
Forward own_forward(const std::string& class_name) {
  Module scratch;
  if (class_name == "nn.Linear") return add_linear(scratch, "", 1, 1, false).forward;
  if (class_name == "nn.Embedding") return add_embedding(scratch, "", 1, 1).forward;
  if (class_name == "Conv1D") return add_conv1d(scratch, "", 1, 1).forward;
  if (class_name == "nn.NonDynamicallyQuantizableLinear" || class_name.ends_with("(nn.Linear)")) return program_linear;
  return nullptr;
}

/// get_output_embeddings() gives none, whatever the modules are called.
void deny_output_embeddings(Module& module) {
  module.is_output_embedding = false;
  for (const std::unique_ptr<Module>& child : module.children()) deny_output_embeddings(*child);
}

/// The tree of modules, as it was registered.
class TreeBuilder {
 public:
  TreeBuilder(const Program& program, Module& root, Dtype weights, CheckpointableLayers& layers)
      : program_(program), root_(root), weights_(weights), layers_(layers) {
    root.dtype = weights;
    root.class_name = program.class_name;
    add_inside(root, program.root);
    for (const auto& [module, parameter] : ties_) tie(*module, *parameter);
    if (const auto named = program.header.find("output_embeddings"); named != program.header.end()) {
      if (named->second == "none") deny_output_embeddings(root);
      if (Module* const module = find_module(root, named->second)) module->is_output_embedding = true;
    }
  }

 private:
  void add_inside(Module& module, const ModuleDeclaration& declared) {
    if (declared.checkpointable) layers_.emplace(&module, static_cast<std::int64_t>(layers_.size()));
    for (const ParameterDeclaration& parameter : declared.parameters) add(module, parameter);
    const std::vector<ModuleDeclaration>& children = declared.children;
    for (auto child = children.begin(); child != children.end();) {
      const auto next = std::find_if(child, children.end(), [&](const auto& other) {
        return !(other.goes_round && child->goes_round) && !(!other.order.empty() && other.order == child->order);
      });
      if (child != next) {
        const std::span<const ModuleDeclaration> kinds(&*child, static_cast<std::size_t>(next - child));
        child->goes_round ? add_rounds(module, kinds) : add_in_order(module, kinds);
        child = next;
        continue;
      }
      if (child->repeats) {
        add_from(module, *child, 0, std::numeric_limits<std::int64_t>::max());
      } else {
        add_child(module, child->name, *child);
      }
      ++child;
    }
  }

  /// "0..2 by 4 to 15", "3 by 4 to 15": 0, 1, 2, 3, 4, …
  void add_rounds(Module& module, std::span<const ModuleDeclaration> kinds) {
    const std::vector<std::int64_t>& values = program_.captured_values;
    const std::int64_t step = kinds[0].step(values), end = kinds[0].end(values);
    for (const ModuleDeclaration& kind : kinds)
      if (step < 1 || kind.step(values) != step || kind.end(values) != end || kind.first(values) > kind.last(values))
        fail(kind.line, "modules that repeat otherwise than those beside them");
    for (std::int64_t before = 0; kinds[0].first(values) + before <= end; before += step)
      for (const ModuleDeclaration& kind : kinds) add_from(module, kind, before, end);
  }

  /// "0..layers.count - 1 of layers "a"", and of its other kinds: 0, 1, 2, …, each of the kind that the list says.
  void add_in_order(Module& module, std::span<const ModuleDeclaration> kinds) {
    const std::vector<std::string>& order = program_.orders.at(kinds[0].order);
    const std::vector<std::int64_t>& values = program_.captured_values;
    const std::int64_t first = kinds[0].first(values), last = kinds[0].last(values);
    if (first < 0 || last >= std::ssize(order))
      fail(kinds[0].line, fmt::format("{} says no more than {}", kinds[0].order, order.size()));
    for (std::int64_t i = first; i <= last; ++i) {
      const std::string& kind = order[static_cast<std::size_t>(i)];
      const auto declared = std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.kind == kind; });
      if (declared == kinds.end()) fail(kinds[0].line, fmt::format("no module of {}", kind));
      add_child(module, std::to_string(i), *declared);
    }
  }

  /// One under each number, so many further on.
  void add_from(Module& module, const ModuleDeclaration& child, std::int64_t before, std::int64_t end) {
    const std::int64_t last = std::min(child.last(program_.captured_values) + before, end);
    for (std::int64_t i = child.first(program_.captured_values) + before; i <= last; ++i)
      add_child(module, std::to_string(i), child);
  }

  void add_child(Module& parent, const std::string& name, const ModuleDeclaration& declared) {
    constexpr std::int64_t kMostModules = 1 << 18;
    if (++modules_ > kMostModules) fail(declared.line, "more than 2^18 modules");
    if (parent.has(name)) fail(declared.line, fmt::format("{} is there twice", name));
    Module& child = parent.add(name, own_forward(declared.class_name));
    child.class_name = declared.class_name;
    child.is_layer_norm = declared.class_name == "nn.LayerNorm";
    add_inside(child, declared);
  }

  void add(Module& module, const ParameterDeclaration& declared) {
    if (module.has_parameter(declared.name)) fail(declared.line, fmt::format("{} is there twice", declared.name));
    const Dtype dtype = declared.type.of_weights ? weights_ : declared.type.dtype;
    Dims sizes;
    for (const Expression& size : declared.type.sizes) sizes.push_back(size(program_.captured_values));
    for (const std::int64_t size : sizes)
      if (size < 0) fail(declared.line, fmt::format("{} has a size below 0", declared.name));
    if (declared.is_buffer) {
      module.buffer(declared.name, sizes, dtype);
    } else {
      module.parameter(declared.name, sizes);
      Parameter& parameter = module.get(declared.name);
      parameter.dtype = dtype;
      parameter.trains = !declared.frozen;
    }
    if (!declared.tied_to.empty()) ties_.emplace_back(&module, &declared);
  }

  void tie(Module& module, const ParameterDeclaration& declared) {
    const std::size_t dot = declared.tied_to.rfind('.');
    const std::string name = declared.tied_to.substr(dot == std::string::npos ? 0 : dot + 1);
    const std::string_view path = dot == std::string::npos ? "" : std::string_view(declared.tied_to).substr(0, dot);
    Module* const owner = find_module(root_, path);
    if (!owner || !owner->has_parameter(name))
      fail(declared.line, fmt::format("no parameter {} to be the same as", declared.tied_to));
    module.tie(declared.name, *owner, name);
  }

  [[noreturn]] void fail(int line, const std::string& what) const {
    throw Error(Errc::bad_file, what, program_.where(line));
  }

  const Program& program_;
  Module& root_;
  const Dtype weights_;
  CheckpointableLayers& layers_;
  std::vector<std::pair<Module*, const ParameterDeclaration*>> ties_;
  std::int64_t modules_ = 0;
};

}  // namespace

Module* find_module(Module& root, std::string_view path) {
  Module* module = &root;
  while (module && !path.empty()) {
    const std::string_view child = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(child.size() + 1, path.size()));
    module = module->has(child) ? &(*module)[child] : nullptr;
  }
  return module;
}

void build_modules(const Program& program, Module& root, Dtype weights, CheckpointableLayers& layers) {
  const TreeBuilder built(program, root, weights, layers);
}

}  // namespace tidemark
