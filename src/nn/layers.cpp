#include "nn/layers.h"

#include "base/check.h"
#include "base/error.h"
#include "nn/operation.h"
#include "nn/quantization.h"

namespace tidemark {
namespace {

Tensor linear_forward(Module& m, Tensor x) {
  Run& run = x.run();
  return with_parameters(run, linear, std::move(x), m("weight"), m.has_parameter("bias") ? m("bias") : Tensor());
}

Tensor embedding_forward(Module& m, Tensor indices) {
  Run& run = indices.run();
  return with_parameters(run, embedding, m("weight"), std::move(indices));
}

Tensor layer_norm_forward(Module& m, Tensor x) {
  const bool affine = m.has_parameter("weight");
  if (!affine) return layer_norm(std::move(x), {}, {});
  Run& run = x.run();
  return with_parameters(run, layer_norm, std::move(x), m("weight"), m("bias"));
}

/// transformers: models/llama/modeling_llama.py, LlamaRMSNorm.forward
Tensor rms_norm_forward(Module& m, Tensor x) {
  const Tensor hidden = std::move(x);
  const Dtype input_dtype = hidden.dtype();
  Tensor hidden_states = to(hidden, Dtype::f32);
  const Tensor variance = mean(pow2(hidden_states), -1, true);
  hidden_states = mul(hidden_states, rsqrt(add_scalar(variance)));
  Tensor (*const product)(Tensor, Tensor) = mul;
  return with_parameters(hidden.run(), product, m("weight"), to(hidden_states, input_dtype));
}

Tensor dropout_forward(Module& m, Tensor x) { return dropout(std::move(x), m.training ? m.probability : 0); }

/// transformers: pytorch_utils.Conv1D.forward
Tensor conv1d_forward(Module& m, Tensor input) {
  Run& run = input.run();
  Tensor x = std::move(input);
  Dims size_out = x.sizes();
  size_out[-1] = m("weight").size(1);
  x = with_parameters(run, addmm, m("bias"), view(x, {-1, x.size(-1)}), m("weight"));
  return view(x, size_out);
}

/// transformers: activations.NewGELUActivation.forward
Tensor new_gelu(Module&, Tensor x) {
  const Tensor input = std::move(x);
  const Tensor half = mul_scalar(input);
  Tensor inner = mul_scalar(pow3(input));
  inner = add(input, std::move(inner));
  inner = mul_scalar(std::move(inner));
  inner = tanh(std::move(inner));
  inner = add_scalar(std::move(inner));
  return mul(half, inner);
}

/// transformers: activations.QuickGELUActivation.forward
Tensor quick_gelu(Module&, Tensor x) {
  const Tensor input = std::move(x);
  return mul(input, sigmoid(mul_scalar(input)));
}

struct NamedActivation {
  std::string_view name;
  Forward forward;
};

/// transformers: activations.ACT2CLS
constexpr NamedActivation kActivations[] = {
    {"gelu", [](Module&, Tensor x) { return gelu(std::move(x)); }},
    {"gelu_new", new_gelu},
    {"gelu_pytorch_tanh", [](Module&, Tensor x) { return gelu(std::move(x)); }},
    {"quick_gelu", quick_gelu},
    {"relu", [](Module&, Tensor x) { return relu(std::move(x)); }},
    {"sigmoid", [](Module&, Tensor x) { return sigmoid(std::move(x)); }},
    {"silu", [](Module&, Tensor x) { return silu(std::move(x)); }},
    {"swish", [](Module&, Tensor x) { return silu(std::move(x)); }},
    {"tanh", [](Module&, Tensor x) { return tanh(std::move(x)); }},
};

}  // namespace

Module& add_linear(Module& parent, std::string_view name, std::int64_t in, std::int64_t out, bool bias) {
  Module& m = parent.add(name, linear_forward).parameter("weight", {out, in});
  return bias ? m.parameter("bias", {out}) : m;
}

Module& add_embedding(Module& parent, std::string_view name, std::int64_t entries, std::int64_t features) {
  return parent.add(name, embedding_forward).parameter("weight", {entries, features});
}

Module& add_rms_norm(Module& parent, std::string_view name, std::int64_t features) {
  return parent.add(name, rms_norm_forward).parameter("weight", {features});
}

Module& add_layer_norm(Module& parent, std::string_view name, std::int64_t features) {
  Module& m = parent.add(name, layer_norm_forward);
  m.is_layer_norm = true;
  return m.parameter("weight", {features}).parameter("bias", {features});
}

Module& add_conv1d(Module& parent, std::string_view name, std::int64_t in, std::int64_t out) {
  return parent.add(name, conv1d_forward).parameter("weight", {in, out}).parameter("bias", {out});
}

Module& add_dropout(Module& parent, std::string_view name, double probability) {
  Module& m = parent.add(name, dropout_forward);
  m.probability = probability;
  return m;
}

Module& add_activation(Module& parent, std::string_view name, std::string_view activation) {
  for (const NamedActivation& known : kActivations)
    if (known.name == activation) return parent.add(name, known.forward);
  throw Error(Errc::unsupported, "no activation " + std::string(activation), "config.json");
}

void add_mlp(Module& m, const MlpNames& names, std::int64_t features, std::int64_t inner, std::string_view activation) {
  add_linear(m, names.first, features, inner, true);
  add_activation(m, names.activation, activation);
  add_linear(m, names.second, inner, features, true);
}

bool is_linear(const Module& module) { return module.forward == linear_forward; }

bool is_conv1d(const Module& module) { return module.forward == conv1d_forward; }

Tensor program_linear(Module& m, Tensor) { throw InternalError("the forward of " + m.full_name() + " is a program's"); }

bool is_embedding(const Module& module) { return module.forward == embedding_forward; }

std::optional<LinearShape> linear_shape(const Module& module) {
  if (module.quantized) return LinearShape{module.quantized->in, module.quantized->out};
  const bool is_linear = module.forward == linear_forward || module.forward == program_linear;
  if (!is_linear && module.forward != conv1d_forward) return {};
  const Dims& sizes = module.get("weight").sizes;
  return is_linear ? LinearShape{sizes[1], sizes[0]} : LinearShape{sizes[0], sizes[1]};
}

}  // namespace tidemark
