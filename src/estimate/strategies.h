// The strategies for many GPUs as a spec asks for them, by its key `parallel`: what of it each takes, and what it
// refuses.
#pragma once
#include <functional>
#include <memory>

#include "estimate/spec.h"
#include "nn/model.h"
#include "train/hooks.h"

namespace tidemark {

/// Wraps the model.  Throws Error{unsupported} for what is not known of the strategy.
using Strategy = StepHooks (*)(Run& run, Module& root, const Spec& spec);

Strategy strategy_of(Parallel parallel);

/// Throws Error{unsupported}, of a field of the spec.
[[noreturn]] void refuse(const char* field, const char* message, const char* hint = "");

/// Splits the modules of `tp.plan`, or of the family's own, before the strategy of `parallel`: what is to be told goes
/// to `assume`.  Does nothing when the spec has no `tp`.
void split_modules(Run& run, Module& root, const Spec& spec, const Value& model_config, StepHooks& hooks,
                   const std::function<void(std::string)>& assume);
/// Leaves each GPU its part of the tokens, inside the strategy of `parallel`.  Does nothing when the spec has no `cp`.
void split_tokens(Run& run, const Model& model, const Spec& spec, const BatchSizes& sizes, StepHooks& hooks,
                  const std::function<void(std::string)>& assume);
/// What a strategy does to the model before it has memory.  The result takes part in the load of the weights, and lives
/// as long.
std::shared_ptr<const ModuleHooks> before_load(Module& root, const Spec& spec);
/// The layers of each stage of a pipeline.  Throws Error{unsupported} for what is not known of pipelines.
std::vector<std::int64_t> layers_of_stages(Model& model, const Spec& spec);
/// Leaves of the model what the stage has of it.
void keep_stage(Model& model, std::int64_t stage, const std::vector<std::int64_t>& layers);
PipelineShape pipeline_shape(const PipelineSpec& pp);
/// Of the rank within its pipeline, which has some of the stages.
std::int64_t pipeline_rank(const Spec& spec);
bool has_stage(const Spec& spec, std::int64_t stage);
StepHooks with_pipeline(Run& run, const std::vector<std::unique_ptr<Model>>& parts, const Spec& spec);

/// GPUs that have the same parameters.
std::int64_t copies_of(const Spec& spec);

StepHooks with_ddp(Run& run, Module& root, const Spec& spec);
StepHooks with_zero(Run& run, Module& root, const Spec& spec);
StepHooks with_ep(Run& run, Module& root, const Spec& spec);
StepHooks with_fsdp1(Run& run, Module& root, const Spec& spec);
StepHooks with_fsdp2(Run& run, Module& root, const Spec& spec);
StepHooks with_zero3(Run& run, Module& root, const Spec& spec);

}  // namespace tidemark
