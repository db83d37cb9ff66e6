// The strategies for many GPUs as a spec asks for them, by its key `parallel`: what of it each takes, and what it
// refuses.
#pragma once
#include <functional>
#include <memory>

#include "estimate/spec.h"
#include "nn/module.h"
#include "train/hooks.h"

namespace tidemark {

/// Wraps the model.  Throws Error{unsupported} for what is not known of the strategy.
using Strategy = StepHooks (*)(Run& run, Module& root, const Spec& spec);

Strategy strategy_of(Parallel parallel);

/// Throws Error{unsupported}, of a field of the spec.
[[noreturn]] void refuse(const char* field, const char* message, const char* hint = "");

/// What a strategy does to the model before it has memory.  The result takes part in the load of the weights, and lives
/// as long.
std::shared_ptr<const ModuleHooks> before_load(Module& root, const Spec& spec);
/// Splits the modules of `tp.plan`, or of the family's own, before the strategy of `parallel`: what is to be told goes
/// to `assume`.  Does nothing when the spec has no `tp`.
void split_modules(Run& run, Module& root, const Spec& spec, const Value& model_config, StepHooks& hooks,
                   const std::function<void(std::string)>& assume);

StepHooks with_ddp(Run& run, Module& root, const Spec& spec);
StepHooks with_zero(Run& run, Module& root, const Spec& spec);
StepHooks with_ep(Run& run, Module& root, const Spec& spec);

}  // namespace tidemark
