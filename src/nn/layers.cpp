#include "nn/layers.h"

#include "base/error.h"

namespace tidemark {
namespace {

Tensor linear_forward(Module& m, Tensor x) {
  return linear(std::move(x), m("weight"), m.has_parameter("bias") ? m("bias") : Tensor());
}

Tensor embedding_forward(Module& m, Tensor indices) { return embedding(m("weight"), std::move(indices)); }

Tensor layer_norm_forward(Module& m, Tensor x) {
  return layer_norm(std::move(x), m("weight"), m("bias"));
}

/// transformers: models/llama/modeling_llama.py, LlamaRMSNorm.forward
Tensor rms_norm_forward(Module& m, Tensor x) {
  const Tensor hidden = std::move(x);
  const Dtype input_dtype = hidden.dtype();
  Tensor hidden_states = to(hidden, Dtype::f32);
  const Tensor variance = mean(pow2(hidden_states), -1, true);
  hidden_states = mul(hidden_states, rsqrt(add_scalar(variance)));
  return mul(m("weight"), to(hidden_states, input_dtype));
}

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
  return parent.add(name, layer_norm_forward).parameter("weight", {features}).parameter("bias", {features});
}

Module& add_activation(Module& parent, std::string_view name, std::string_view activation) {
  if (activation == "silu" || activation == "swish")
    return parent.add(name, [](Module&, Tensor x) { return silu(std::move(x)); });
  throw Error(Errc::unsupported, "no activation " + std::string(activation));
}

std::optional<LinearShape> linear_shape(const Module& module) {
  if (module.forward != linear_forward) return {};
  const Dims& sizes = module.get("weight").sizes;
  return LinearShape{sizes[1], sizes[0]};
}

}  // namespace tidemark
