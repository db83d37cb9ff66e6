// The strategies for many GPUs as a spec asks for them, by its key `parallel`: what of it each takes, and what it
// refuses.
#pragma once
#include <functional>
#include <memory>

#include "estimate/spec.h"
#include "nn/model.h"
#include "parallel/tensor_parallel.h"
#include "train/hooks.h"

namespace tidemark {

class ParameterStore;

/// What is done to a model before its strategy comes.
struct Prepared {
  const TensorParallel* split = nullptr;       // what has split its modules
  std::shared_ptr<ParameterStore> parts = {};  // of parameters that were made in parts
};

/// Wraps the model.  Throws Error{unsupported} for what is not known of the strategy.
using Strategy = StepHooks (*)(Run& run, Module& root, const Spec& spec, const Prepared& before);

Strategy strategy_of(Parallel parallel);

/// Where a rank stands.  The ranks are laid as torchtitan lays them (torchtitan/distributed/parallel_dims.py): those of
/// a stage behind each other; of these, those that have the same shards; then those that shard; parts of one matrix are
/// neighbours.
struct MeshPlace {
  std::int64_t stages = 1, copies = 1, shards = 1, parts = 1;  // sizes: pp, dp_replicate, dp_shard, tp
  std::int64_t stage = 0, copy = 0, shard = 0, part = 0;
};
MeshPlace place_of(const Spec& spec);

/// Throws Error{unsupported}, of a field of the spec.
[[noreturn]] void refuse(const char* field, const char* message, const char* hint = "");

/// Refuses an optimizer whose kernels read plain tensors, where parameters are DTensors.
void check_dtensor_optimizer(const Spec& spec);

/// What is to be told of a strategy.
using Assume = std::function<void(std::string)>;

/// Splits the modules of `tp.plan`, or of the family's own, and then does what `parallel` says.  `parts`: of a model
/// that was made in parts.
StepHooks parallelize(Run& run, Module& root, const Spec& spec, const Value& model_config, const Assume& assume,
                      std::shared_ptr<ParameterStore> parts);

/// A model, or a stage of one, that strategies have wrapped.
struct Wrapped {
  Module* root;
  StepHooks hooks;
  std::vector<GradientPlacement> placements;  // of the trained parameters that are split, in their order
};
Wrapped wrap(Run& run, Module& root, const Spec& spec, const Value& model_config, const Assume& assume,
             std::shared_ptr<ParameterStore> parts = nullptr);
/// The first part of it.
std::shared_ptr<TensorParallel> split_modules(Run& run, Module& root, const Spec& spec, const Value& model_config,
                                              const Assume& assume);
/// What the optimizer is made for: parameters that are split in one group, the others in another, as foreach functions
/// take one kind.
void group_parameters(const std::vector<Wrapped>& parts, const Spec& spec, StepHooks& hooks);
/// Leaves each GPU its part of the tokens, inside the strategy of `parallel`.  Does nothing when the spec has no `cp`.
void split_tokens(Run& run, const Model& model, const Spec& spec, const BatchSizes& sizes, StepHooks& hooks,
                  const Assume& assume);
/// What a strategy does to the model before it has memory.  The result takes part in the load of the weights, and lives
/// as long.
std::shared_ptr<const ModuleHooks> before_load(Module& root, const Spec& spec);
/// Whether zero.Init cuts parameters while the model is made.
bool is_made_in_parts(const Spec& spec);
/// Such a model, with weights.
std::shared_ptr<ParameterStore> load_in_parts(Run& run, Module& root, const Spec& spec, const Value& model_config);
/// The layers of each stage of a pipeline.  Throws Error{unsupported} for what is not known of pipelines.
std::vector<std::int64_t> layers_of_stages(Model& model, const Spec& spec);
/// Leaves of the model what the stage has of it.
void keep_stage(Model& model, std::int64_t stage, const std::vector<std::int64_t>& layers);
PipelineShape pipeline_shape(const PipelineSpec& pp);
bool has_stage(const Spec& spec, std::int64_t stage);
/// The first stage whose output has a gradient, of a model that is still whole.
std::int64_t first_trained_stage(Model& model, const Spec& spec, const std::vector<std::int64_t>& layers);
struct Stages {
  std::vector<std::int64_t> layers;  // of each
  std::int64_t first_trained = 0;
};
StepHooks with_pipeline(Run& run, const std::vector<std::unique_ptr<Model>>& parts, const Stages& stages,
                        const Spec& spec, const Value& model_config, const Assume& assume);

StepHooks with_ddp(Run& run, Module& root, const Spec& spec, const Prepared& before);
StepHooks with_zero(Run& run, Module& root, const Spec& spec, const Prepared& before);
StepHooks with_ep(Run& run, Module& root, const Spec& spec, const Prepared& before);
StepHooks with_gemini(Run& run, Module& root, const Spec& spec, const Prepared& before);
StepHooks with_fsdp1(Run& run, Module& root, const Spec& spec, const Prepared& before);
StepHooks with_fsdp2(Run& run, Module& root, const Spec& spec, const Prepared& before);
StepHooks with_zero3(Run& run, Module& root, const Spec& spec, const Prepared& before);

}  // namespace tidemark
