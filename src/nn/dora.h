// DoRA: PEFT's adapters with a vector of magnitudes.  peft: tuners/lora/{dora,variants}.py (0.21.2)
#pragma once
#include "nn/module.h"

namespace tidemark {

/// DoraLinearVariant.init: the vector beside the matrices of an adapted module, in their type.
void add_magnitudes(Module& adapted);

/// DoraLinearLayer.update_layer: its values, of weights that are on the device.
void load_magnitudes(Run& run, Module& adapted);

bool has_magnitudes(const Module& adapted);
bool is_magnitudes(const Module& child);

/// DoraLinearVariant.forward: the base layer's `result` with what the adapter makes of `x`, which has its type.
Tensor with_dora(Module& adapted, Tensor x, const Tensor& result);

}  // namespace tidemark
