// What strategies that wrap layers have in common.
#pragma once
#include <vector>

#include "nn/module.h"
#include "tensor/run.h"

namespace tidemark {

/// A parameter or a buffer, and the module that has it.
struct ManagedParameter {
  Module* module;
  Parameter* parameter;
};

/// The layers of every nn.ModuleList, in the order of modules().
std::vector<Module*> layers_of(Module& root);

/// `tensor.data = tensor.to(device)` of those that are on the host.
void move_to_device(Run& run, const std::vector<ManagedParameter>& states);

/// Modules will compute in this type, whatever their parameters have now.
void set_dtype(Module& module, Dtype dtype);

/// What a hook allocates is no part of a checkpointed block, although it may be called from within.
class InHook {
 public:
  explicit InHook(Run& run) : aside_(run), checkpoint_(run.checkpoint, nullptr) {}

 private:
  AsideOfOperations aside_;
  Setting<CheckpointFrame*> checkpoint_;
};

}  // namespace tidemark
