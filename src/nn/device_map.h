// Weights that from_pretrained(device_map=...) brings onto one card.
// transformers: modeling_utils.py, core_model_loading.py (5.17.0); accelerate: utils/modeling.py (1.15.0)
#pragma once
#include "nn/module.h"

namespace tidemark {

/// As `Module::to_device`, but one weight after the other in the order of their names, out of one block that is asked
/// for before them.  A file has each of them as the model does: of experts that are laid together this is not so.
/// `is_auto`: the map is looked for, and the device with it; else it says one device.
void load_by_device_map(Run& run, Module& root, bool is_auto);

}  // namespace tidemark
