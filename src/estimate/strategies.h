// The strategies for many GPUs as a spec asks for them, by its key `parallel`: what of it each takes, and what it
// refuses.
#pragma once
#include "estimate/spec.h"
#include "nn/module.h"
#include "train/hooks.h"

namespace tidemark {

/// Wraps the model.  Throws Error{unsupported} for what is not known of the strategy.
using Strategy = StepHooks (*)(Run& run, Module& root, const Spec& spec);

Strategy strategy_of(Parallel parallel);

/// Throws Error{unsupported}, of a field of the spec.
[[noreturn]] void refuse(const char* field, const char* message, const char* hint = "");

StepHooks with_ddp(Run& run, Module& root, const Spec& spec);
StepHooks with_zero(Run& run, Module& root, const Spec& spec);
StepHooks with_zero3(Run& run, Module& root, const Spec& spec);

}  // namespace tidemark
