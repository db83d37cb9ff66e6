// What DeepSpeedEngine does before any of its optimizers.  deepspeed/runtime/engine.py (0.19.8)
#pragma once
#include "nn/module.h"
#include "train/optimizer.h"

namespace tidemark {

/// _cast_module_mixed_precision: parameters that are not bf16 are converted on the device, one by one.
void cast_to_bf16(Run& run, Module& root);

/// Throws Error{bad_value} when there is nothing to train.
TensorList trained_by_zero(Module& root);

}  // namespace tidemark
