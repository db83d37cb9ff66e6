// Trainers' names for optimizers, of all formats: the one place where a name gets its optimizer.
#pragma once
#include <optional>
#include <string_view>

#include "estimate/spec.h"
#include "io/training_refusals.h"

namespace tidemark::io {

struct TrainerOptimizer {
  std::string_view name;
  OptimizerName optimizer = OptimizerName::adamw;
  OptimizerImpl impl = OptimizerImpl::automatic;
  /// The nearest that is simulated, where this one is not; its name is empty where none is near.
  std::optional<Nearest> nearest = {};
};

/// A trainer's weight decay: it changes weights in place, except with optimizers of torch that add it to gradients.
void set_weight_decay(Spec& spec, double weight_decay);

/// By the name as a file has it, in any case, with or without `OptimizerNames.`; nothing for an unknown name.
std::optional<TrainerOptimizer> trainer_optimizer(std::string_view name);

}  // namespace tidemark::io
