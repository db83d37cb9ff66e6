// Which weights transformers' Trainer lets decay.  transformers: trainer.py (5.17.0), get_decay_parameter_names
#pragma once
#include "train/hooks.h"

namespace tidemark {

bool decays(const Module& module, const Parameter& parameter);
/// The Trainer's optimizer steps weights that decay apart from those that do not: those that are trained, without a
/// group that is empty.
std::vector<TensorList> decay_groups(Module& root);
/// `hooks` get both groups.
void group_by_decay(Module& root, StepHooks& hooks);

}  // namespace tidemark
