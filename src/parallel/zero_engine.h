// What DeepSpeedEngine does before any of its optimizers.  deepspeed/runtime/engine.py (0.19.8)
#pragma once
#include "nn/module.h"

namespace tidemark {

/// _cast_module_mixed_precision: parameters that are not bf16 are converted on the device, one by one.
void cast_to_bf16(Run& run, Module& root);

}  // namespace tidemark
