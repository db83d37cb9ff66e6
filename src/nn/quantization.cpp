#include "nn/quantization.h"

#include <algorithm>
#include <regex>

#include "base/error.h"
#include "nn/embeddings.h"
#include "nn/layers.h"

namespace tidemark {
namespace {

/// A bias takes the type that is computed in at the first call, and keeps it.
Tensor bias_as(Run& run, Module& m, Dtype computes) {
  if (!m.has_parameter("bias")) return {};
  Parameter& parameter = m.get("bias");
  if (parameter.tensor.dtype() != computes) {
    const AsideOfOperations aside(run);  // it is none when the call is made again
    const Setting<Category> category(run.category, Category::parameters);
    parameter.tensor = to(parameter.tensor, computes);
    parameter.dtype = computes;
  }
  return parameter.tensor;
}

/// Linear4bit.forward
Tensor linear_4bit(Module& m, Tensor input) {
  Tensor x = std::move(input);
  const QuantizedWeight& weight = *m.quantized;
  const Dtype input_dtype = x.dtype(), computes = weight.options.compute_dtype;
  x = to(std::move(x), computes);
  Tensor bias = bias_as(x.run(), m, computes);
  return to(matmul_4bit(x, weight.state, std::move(bias)), input_dtype);
}

/// Linear8bitLt.forward
Tensor linear_8bit(Module& m, Tensor input) {
  const Tensor x = std::move(input);
  Tensor bias = bias_as(x.run(), m, x.dtype());
  return matmul_8bit(x, m.quantized->rows, std::move(bias), m.quantized->options.threshold);
}

/// Int8Params.to: it is fp16 when it comes, or becomes it.
Tensor load_8bit(Run& run, Module& m) {
  QuantizedWeight& quantized = *m.quantized;
  const Dtype comes_as = quantized.comes_as_it_is ? quantized.dtype : Dtype::f16;
  const Tensor whole = to_device(run, Dims{quantized.out, quantized.in}, comes_as);
  quantized.rows = quantize_8bit(to(whole, Dtype::f16));
  return quantized.rows.values;
}

/// Params4bit.to
Tensor load_4bit(Run& run, Module& m) {
  QuantizedWeight& quantized = *m.quantized;
  const Tensor whole = to_device(run, Dims{quantized.out, quantized.in}, quantized.dtype);
  const QuantizationOptions& options = quantized.options;
  Packed4bit packed = quantize_4bit(whole, options.use_double_quant, options.quant_storage, *quantized.dynamic_map);
  quantized.state = std::move(packed.state);
  return std::move(packed.weight);
}

/// should_convert_module, where a pattern counts at the beginning of a name or at its end.
class SkippedModules {
 public:
  explicit SkippedModules(std::vector<std::string> patterns) : ends_(std::move(patterns)) {
    for (const std::string& pattern : ends_) {
      try {
        beginnings_.emplace_back(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
      } catch (const std::regex_error&) {
        throw Error(Errc::bad_value, "not a regular expression: " + pattern, "quantization.skip_modules");
      }
    }
  }

  bool contain(const std::string& name) const {
    const auto begins = [&](const std::regex& pattern) {
      return std::regex_search(name, pattern, std::regex_constants::match_continuous);
    };
    return std::any_of(beginnings_.begin(), beginnings_.end(), begins) ||
           std::any_of(ends_.begin(), ends_.end(), [&](const std::string& end) { return name.ends_with(end); });
  }

 private:
  std::vector<std::string> ends_;
  std::vector<std::regex> beginnings_;
};

std::string without_weight(std::string name) {
  constexpr std::string_view kEnd = ".weight";
  if (name.ends_with(kEnd)) name.resize(name.size() - kEnd.size());
  return name;
}

void add_tied(Module& module, std::vector<std::string>& names) {
  for (const std::shared_ptr<Parameter>& parameter : module.parameters())
    if (!parameter->is_buffer && parameter.use_count() > 1)
      names.push_back(without_weight(full_name(module, *parameter)));
}

/// get_keys_to_not_convert: what is tied, the last parameter's module, and the output embeddings.
std::vector<std::string> usually_skipped(Module& root) {
  std::vector<std::string> names;
  std::string last;
  visit_parameters(root,
                   [&](const Module& module, const Parameter& parameter) { last = full_name(module, parameter); });
  names.push_back(without_weight(last));
  const auto visit = [&](const auto& self, Module& module) -> void {
    add_tied(module, names);
    if (is_output_embedding(module)) names.push_back(module.full_name());
    for (const std::unique_ptr<Module>& child : module.children()) self(self, *child);
  };
  visit(visit, root);
  return names;
}

/// Conv1D's weight is turned before it is quantized.
void become_quantized(Module& module, const LinearShape& shape, const QuantizationOptions& options,
                      const std::shared_ptr<Tensor>& dynamic_map) {
  Parameter& weight = module.get("weight");
  module.quantized = std::make_shared<QuantizedWeight>(
      QuantizedWeight{shape.in, shape.out, weight.dtype, options, {}, {}, dynamic_map});
  const bool in_8bit = options.load_in_8bit;
  weight.sizes =
      in_8bit ? Dims{shape.out, shape.in} : Dims{(shape.in * shape.out + 1) / (size_of(options.quant_storage) * 2), 1};
  weight.dtype = in_8bit ? Dtype::uint8 : options.quant_storage;
  weight.load = in_8bit ? load_8bit : load_4bit;
  for (const std::shared_ptr<Parameter>& parameter : module.parameters()) parameter->trains = false;
  module.forward = in_8bit ? linear_8bit : linear_4bit;
}

void become_fp32(Module& module) {
  module.dtype = Dtype::f32;
  for (const std::unique_ptr<Module>& child : module.children()) become_fp32(*child);
}

std::int64_t quantize_inside(Module& module, const SkippedModules& skipped, const QuantizationOptions& options,
                             const std::shared_ptr<Tensor>& dynamic_map) {
  std::int64_t count = 0;
  const bool is_of_torch = is_linear(module) || is_conv1d(module);
  if (is_of_torch && !skipped.contain(module.full_name())) {
    become_quantized(module, *linear_shape(module), options, dynamic_map);
    ++count;
  }
  for (const std::unique_ptr<Module>& child : module.children())
    count += quantize_inside(*child, skipped, options, dynamic_map);
  return count;
}

}  // namespace

void quantize_modules(Module& root, const QuantizationOptions& options) {
  const SkippedModules skipped(options.skip_modules ? *options.skip_modules : usually_skipped(root));
  if (quantize_inside(root, skipped, options, std::make_shared<Tensor>()) == 0)
    throw Error(Errc::bad_value, "the model has no linear modules to quantize", "quantization");
}

void prepare_for_kbit_training(Run& run, Module& root) {
  const Setting<Category> category(run.category, Category::parameters);
  const NoGrad no_grad(run);
  visit_parameters(root, [&](const Module& module, Parameter& parameter) {
    parameter.tensor.impl().requires_grad = false;
    const bool is_half = parameter.dtype == Dtype::f16 || parameter.dtype == Dtype::bf16;
    if (!is_half || parameter.load) return;
    const InModule scope(run, module);
    parameter.tensor = to(parameter.tensor, Dtype::f32);
    parameter.dtype = Dtype::f32;
  });
  become_fp32(root);
  run.empty_cache();
}

}  // namespace tidemark
