// The modules of a program, as they were registered.
#pragma once
#include <string_view>

#include "nn/module.h"
#include "program/program.h"
#include "program/routine.h"

namespace tidemark {

/// "model.embed_tokens" from the root; null where there is no such module.
Module* find_module(Module& root, std::string_view path);

/// Adds them to an empty root, and numbers the layers that may be checkpointed.
void build_modules(const Program& program, Module& root, Dtype weights, CheckpointableLayers& layers);

}  // namespace tidemark
