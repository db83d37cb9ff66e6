// Where a program may be cut into stages of a pipeline.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"

namespace tidemark {

/// Paths from the root.  nn/model.h (Stack)
struct StackPaths {
  std::vector<std::string> before;  // what makes hidden states of tokens
  std::string layers;  // an nn.ModuleList, whose modules differ in the hidden states that they are given alone
  std::vector<std::string> behind;
  std::int64_t features = 0;  // of a hidden state
};

/// None where layers are given different things, or images come in between.
std::optional<StackPaths> find_stack(const Program& program);

/// The body that the model begins with, as it runs without labels: what leads to the loss alone is left out.  None
/// where it takes none, or they are needed for more.  It refers to the statements of the program, which outlives it.
std::optional<Body> without_loss(const Program& program);

}  // namespace tidemark
