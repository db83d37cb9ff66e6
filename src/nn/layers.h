// The modules whose forwards strategies and adapters know.  Each adds itself to a parent, under the name that the
// reference gives it.
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
