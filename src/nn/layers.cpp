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

Tensor dropout_forward(Module& m, Tensor x) {
  const bool is_on = m.training && !x.run().dropout_modules_off;
  return dropout(std::move(x), is_on ? m.probability : 0);
}

/// transformers: pytorch_utils.Conv1D.forward
Tensor conv1d_forward(Module& m, Tensor input) {
  Run& run = input.run();
  Tensor x = std::move(input);
  Dims size_out = x.sizes();
  size_out[-1] = m("weight").size(1);
  x = with_parameters(run, addmm, m("bias"), view(x, {-1, x.size(-1)}), m("weight"));
  return view(x, size_out);
}

}  // namespace

Module& add_linear(Module& parent, std::string_view name, std::int64_t in, std::int64_t out, bool bias) {
  Module& m = parent.add(name, linear_forward).parameter("weight", {out, in});
  return bias ? m.parameter("bias", {out}) : m;
}

Module& add_embedding(Module& parent, std::string_view name, std::int64_t entries, std::int64_t features) {
  return parent.add(name, embedding_forward).parameter("weight", {entries, features});
}

Module& add_conv1d(Module& parent, std::string_view name, std::int64_t in, std::int64_t out) {
  return parent.add(name, conv1d_forward).parameter("weight", {in, out}).parameter("bias", {out});
}

Module& add_dropout(Module& parent, std::string_view name, double probability) {
  Module& m = parent.add(name, dropout_forward);
  m.probability = probability;
  return m;
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
