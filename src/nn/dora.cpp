#include "nn/dora.h"

#include "nn/layers.h"
#include "nn/quantization.h"

namespace tidemark {
namespace {

constexpr const char* kVector = "lora_magnitude_vector";

/// DoraLinearLayer.get_weight_norm of weights as their module has them.
Tensor weight_norm(Tensor weight, Tensor lora_weight, bool fan_in_fan_out) {
  if (fan_in_fan_out) weight = transpose(std::move(weight), 0, 1);
  Tensor scaled = mul_scalar(std::move(lora_weight));
  weight = add(std::move(weight), std::move(scaled));
  return to(squeeze(linalg_vector_norm(weight, 2, {1}, true), 1), weight.dtype());
}

/// DoraLinearLayer.get_lora_weight, in the type of `x`.
Tensor lora_weight_of(Module& lora_a, Module& lora_b, std::int64_t in_features, Dtype dtype) {
  const Tensor& a = lora_a("weight");
  Tensor product;
  {
    const Tensor x_eye = eye(a.run(), in_features, a.dtype());
    product = lora_b(lora_a(x_eye));
  }
  return to(transpose(std::move(product), 0, 1), dtype);
}

/// dequantize_module_weight
Tensor weight_of(Run& run, Module& base) {
  return base.quantized ? dequantize_4bit(run, base.quantized->state) : base("weight");
}

/// torch.Tensor.__deepcopy__, except for its own block: `copies` are the storages.
void deepcopy(const Tensor& x, Tensors& copies) {
  copies.push_back(clone(x));
  const Tensor without_storage = full(x.run(), Dims{}, x.dtype());
}

void deepcopy(const QuantState& state, Tensors& copies) {
  for (const Tensor* part : {&state.absmax, &state.code, &state.offset, &state.nested_absmax, &state.nested_code})
    if (*part) deepcopy(*part, copies);
}

/// copy.deepcopy(Linear4bit): its weight holds a QuantState, and so does the module.
Tensors deepcopy(Module& base) {
  Tensors copies;
  deepcopy(base.quantized->state, copies);
  deepcopy(base.get("weight").tensor, copies);
  if (base.has_parameter("bias")) copies.push_back(clone(base("bias")));
  deepcopy(base.quantized->state, copies);
  return copies;
}

/// The base layer's result without its bias, or its product with an input that dropout has changed.
Tensor base_result_of(Module& base, const Tensor& x, const Tensor& weight, const Tensor& result, bool has_dropout) {
  if (has_dropout) return linear(x, is_conv1d(base) ? transpose(weight, 0, 1) : weight);
  return base.has_parameter("bias") ? sub(result, base("bias")) : result;
}

/// DoraLinearLayer.forward
Tensor change_of(Module& adapted, const Tensor& x, const Tensor& result, bool has_dropout) {
  Module &base = adapted["base_layer"], &vector = adapted[kVector]["default"];
  Module &lora_a = adapted["lora_A"]["default"], &lora_b = adapted["lora_B"]["default"];
  const InModule scope(x.run(), vector);
  const LinearShape shape = *linear_shape(base);
  const Tensor lora_weight = lora_weight_of(lora_a, lora_b, shape.in, x.dtype());
  const Tensor weight = to(weight_of(x.run(), base), x.dtype());
  const Tensor norm = weight_norm(weight, detach(lora_weight), is_conv1d(base));
  const Tensor mag_norm_scale = view(div(vector("weight"), detach(norm)), {1, shape.out});
  const Tensor lora_result = lora_b(lora_a(x));
  const Tensor base_result = base_result_of(base, x, weight, result, has_dropout);
  Tensor of_base = add_scalar(mag_norm_scale);
  of_base = mul(std::move(of_base), base_result);
  Tensor of_adapter = mul(mag_norm_scale, lora_result);
  of_adapter = mul_scalar(std::move(of_adapter));
  return add(std::move(of_base), std::move(of_adapter));
}

}  // namespace

void add_magnitudes(Module& adapted) {
  Module& vector = adapted.add(kVector).add("default");
  vector.class_name = "lora.dora.DoraLinearLayer";
  vector.parameter("weight", {linear_shape(adapted["base_layer"])->out});
}

bool has_magnitudes(const Module& adapted) { return adapted.has(kVector); }

bool is_magnitudes(const Module& child) { return child.name() == kVector; }

void load_magnitudes(Run& run, Module& adapted) {
  const NoGrad no_grad(run);
  Module& base = adapted["base_layer"];
  Tensor lora_a = adapted["lora_A"]["default"]("weight"), lora_b = adapted["lora_B"]["default"]("weight");
  const Dtype dtype = lora_a.dtype();
  if (dtype == Dtype::f16) {
    lora_a = to(std::move(lora_a), Dtype::f32);
    lora_b = to(std::move(lora_b), Dtype::f32);
  }
  const Tensors copies = base.quantized ? deepcopy(base) : Tensors();
  const Tensor weight = weight_of(run, base);
  Tensor lora_weight = matmul(lora_b, lora_a);
  if (dtype == Dtype::f16) lora_weight = to(std::move(lora_weight), dtype);
  Parameter& vector = adapted[kVector]["default"].get("weight");
  vector.tensor = weight_norm(weight, lora_weight, is_conv1d(base));
  vector.tensor.impl().requires_grad = true;
}

Tensor with_dora(Module& adapted, Tensor x, const Tensor& result) {
  Module& drop = adapted["lora_dropout"]["default"];
  const bool has_dropout = drop.probability > 0;
  if (has_dropout) x = drop(std::move(x));
  Tensor change = change_of(adapted, x, result, has_dropout);
  return add(result, std::move(change));
}

}  // namespace tidemark
