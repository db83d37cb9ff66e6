// The modules that every model is made of.  Each adds itself to a parent, under the name that the reference gives it.
#pragma once
#include <optional>

#include "nn/module.h"

namespace tidemark {

/// torch.nn.Linear: weight (out, in), bias (out).
Module& add_linear(Module& parent, std::string_view name, std::int64_t in, std::int64_t out, bool bias);
/// transformers' Conv1D: weight (in, out), bias (out).
Module& add_conv1d(Module& parent, std::string_view name, std::int64_t in, std::int64_t out);
/// torch.nn.Embedding: weight (entries, features).  Called with indices.
Module& add_embedding(Module& parent, std::string_view name, std::int64_t entries, std::int64_t features);
/// LlamaRMSNorm: float32 inside, weight times the result in the input's type.
Module& add_rms_norm(Module& parent, std::string_view name, std::int64_t features);
/// torch.nn.LayerNorm
Module& add_layer_norm(Module& parent, std::string_view name, std::int64_t features);
/// An activation by the name of transformers' ACT2FN.  Throws Error{unsupported}.
Module& add_activation(Module& parent, std::string_view name, std::string_view activation);
/// Two linear layers with an activation between them.
struct MlpNames {
  const char *first, *activation, *second;
};
void add_mlp(Module& m, const MlpNames& names, std::int64_t features, std::int64_t inner, std::string_view activation);
/// torch.nn.Dropout
Module& add_dropout(Module& parent, std::string_view name, double probability);

/// Features of a torch.nn.Linear, or of what adapters treat like one; none of any other module.
struct LinearShape {
  std::int64_t in = 0, out = 0;
};
std::optional<LinearShape> linear_shape(const Module& module);
/// isinstance(module, nn.Linear), and of no class that is made of one.
bool is_linear(const Module& module);
/// isinstance(module, Conv1D)
bool is_conv1d(const Module& module);
/// Of a class derived from nn.Linear, which adapters take for one: what it does stands in a program, which runs it.
Tensor program_linear(Module& module, Tensor x);
/// type(module) is nn.Embedding
bool is_embedding(const Module& module);

}  // namespace tidemark
