// What strategies that wrap layers have in common.
#pragma once
#include <string>
#include <vector>

#include "nn/module.h"
#include "tensor/run.h"

namespace tidemark {

/// A parameter or a buffer, and the module that has it.
struct ManagedParameter {
  Module* module;
  Parameter* parameter;
};

/// The layers of every nn.ModuleList, in the order of modules(); or, where classes are named, the modules of these,
/// those within others first.  Throws Error{bad_value} for a class of which there is none.
std::vector<Module*> layers_of(Module& root, const std::vector<std::string>& classes);

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
