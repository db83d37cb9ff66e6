// The trained parameters of a model: frozen names, and the targets of adapters.
#pragma once
#include <string>

#include "estimate/recorder.h"
#include "estimate/spec.h"
#include "nn/lora.h"
#include "nn/module.h"

namespace tidemark {

/// Parameters by spec.train_only and spec.freeze.  Throws Error{unknown_name} for a name that no parameter has, unless
/// a trainer's file says it (spec.lenient_names): then the report says so.
void freeze(Module& root, const Spec& spec, Recorder& recorder);

/// Adapters of `spec.lora`; of PEFT's targets for the model type, else all linear modules, where none are named.
/// `by_engine`: DeepSpeed's, all of whose weights are bf16.  Throws as freeze().
LoraOptions lora_options(const Spec& spec, Module& root, const std::string& model_type, Recorder& recorder,
                         bool by_engine = false);

}  // namespace tidemark
