#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "estimate/strategies.h"
#include "parallel/pipeline.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// What is not known of pipelines, or what no program would do.
void check_pipeline(const Spec& spec) {
  using enum Parallel;
  if (spec.parallel != none && spec.parallel != ddp && spec.parallel != fsdp2)
    refuse("parallel", "pipelines are known by themselves, with ddp and with fsdp2");
  if (spec.tp && spec.parallel == ddp)
    refuse(
        "parallel",
        "DistributedDataParallel makes DTensors of a stage's parts in its first pass, which is one without gradients: "
        "they never get any",
        "set parallel to fsdp2, or leave out tp or pp");
  if (spec.load == Load::wrapped)
    refuse("load", "stages are cut on the host, and go to the card before they are wrapped", "leave it out");
  const Fsdp2Spec sharded = spec.fsdp2.value_or(Fsdp2Spec{});
  if (!sharded.requires_gradient_sync)
    refuse("fsdp2.requires_gradient_sync", "a pipeline reduces gradients when all its micro-batches are through",
           "leave it out");
  if (sharded.offload_policy != Offload::none)
    refuse("fsdp2.offload_policy", "stages that are kept on the host are not known", "leave it out");
  const DdpSpec data = spec.ddp.value_or(DdpSpec{});
  if (data.find_unused_parameters || data.static_graph)
    refuse("ddp", "in a pipeline ddp is known without find_unused_parameters and static_graph");
  if (spec.autocast != Autocast::none) refuse("autocast", "pipelines are known without autocast");
  if (spec.grad_scaler) refuse("grad_scaler", "pipelines are known without a scaled loss");
  if (spec.images > 0 && spec.pp->stages_per_rank > 1)
    refuse("pp.stages_per_rank",
           "with images several stages on a GPU are not known: the program that is mirrored fails");
  if (!spec.labels) refuse("labels", "the last stage of a pipeline computes the loss", "leave labels on");
  if (spec.zero_grad == ZeroGrad::before_backward)
    refuse("zero_grad", "in a pipeline the first backward pass comes before the last forward pass");
}

std::vector<const Parameter*> parameters_of(const std::vector<Module*>& modules) {
  std::vector<const Parameter*> found;
  for (Module* module : modules)
    visit_parameters(*module, [&](const Module&, const Parameter& parameter) { found.push_back(&parameter); });
  return found;
}

/// Whether a weight is one of the first stage and one of the last.
bool is_tied(const Stack& stack) {
  const std::vector<const Parameter*> before = parameters_of(stack.before), behind = parameters_of(stack.behind);
  return std::find_first_of(before.begin(), before.end(), behind.begin(), behind.end()) != before.end();
}

}  // namespace

PipelineShape pipeline_shape(const PipelineSpec& pp) {
  return {pp.schedule, pp.degree, pp.stages_per_rank, pp.microbatches};
}

bool has_stage(const Spec& spec, std::int64_t stage) { return stage % spec.pp->degree == place_of(spec).stage; }

std::vector<std::int64_t> layers_of_stages(Model& model, const Spec& spec) {
  check_pipeline(spec);
  if (!model.stack)
    refuse("pp", "this model is not one stack of like layers that takes and gives hidden states",
           "models of text alone are whose layers are alike and whose positions are not learned, and llava is");
  const auto layers = static_cast<std::int64_t>(model.stack->layers->children().size());
  const std::int64_t stages = spec.pp->degree * spec.pp->stages_per_rank;
  if (stages > 1 && is_tied(*model.stack))
    refuse("pp", "the embedding and the head are one weight, on two stages of the pipeline",
           "set tie_word_embeddings to false");
  std::vector<std::int64_t> counts = spec.pp->layers;
  for (std::int64_t stage = 0; spec.pp->layers.empty() && stage < stages; ++stage)
    counts.push_back(layers / stages + (stage < layers % stages ? 1 : 0));
  if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) != layers)
    throw Error(Errc::bad_value, fmt::format("the model has {} layers, and the stages have others", layers),
                "pp.layers");
  return counts;
}

void keep_stage(Model& model, std::int64_t stage, const std::vector<std::int64_t>& layers) {
  const auto begin = layers.begin(), at = begin + stage;
  keep_part(model, {.first_layer = static_cast<std::size_t>(std::accumulate(begin, at, std::int64_t{0})),
                    .layers = static_cast<std::size_t>(*at),
                    .is_first = at == begin,
                    .is_last = at + 1 == layers.end()});
}

std::int64_t first_trained_stage(Model& model, const Spec& spec, const std::vector<std::int64_t>& layers) {
  if (spec.checkpointing != Checkpointing::none) return 0;  // what the embedding gives is made to have a gradient
  const auto trains = [](const std::vector<Module*>& modules) {
    return std::ranges::any_of(parameters_of(modules), &Parameter::trains);
  };
  if (trains(model.stack->before)) return 0;
  auto layer = model.stack->layers->children().begin();
  for (std::size_t stage = 0; stage < layers.size(); ++stage)
    for (std::int64_t i = 0; i < layers[stage]; ++i)
      if (trains({(layer++)->get()})) return static_cast<std::int64_t>(stage);
  return static_cast<std::int64_t>(layers.size()) - 1;
}

StepHooks with_pipeline(Run& run, const std::vector<std::unique_ptr<Model>>& parts, const Stages& stages,
                        const Spec& spec, const Value& model_config, const Assume& assume) {
  if (run.torch().stages_measure_themselves && spec.checkpointing == Checkpointing::reentrant &&
      stages.layers.size() > 1)
    refuse("checkpointing",
           "since torch 2.12 stages find their sizes by torch.autograd.grad, which reentrant checkpointing raises an "
           "error for",
           "set checkpointing to non_reentrant");
  std::vector<Model*> models;
  std::vector<Wrapped> wrapped;
  std::vector<StepHooks> wrappers;
  Spec stage = spec;  // torch: _PipelineStageBase.backward_maybe_with_nosync
  if (stage.parallel == Parallel::ddp) {
    stage.ddp = spec.ddp.value_or(DdpSpec{});
    stage.ddp->no_sync = true;
  }
  for (const std::unique_ptr<Model>& part : parts) {
    models.push_back(part.get());
    wrapped.push_back(wrap(run, part->root, stage, model_config, assume));
    wrappers.push_back(wrapped.back().hooks);
  }
  StepHooks hooks = pipeline(run, models,
                             {.shape = pipeline_shape(*spec.pp),
                              .rank = place_of(spec).stage,
                              .return_outputs = spec.pp->return_outputs,
                              .keeps_sent_outputs = spec.parallel == Parallel::ddp,
                              .first_trained = stages.first_trained},
                             wrappers);
  hooks.reduce_norms = wrappers.front().reduce_norms;
  if (spec.tp && spec.parallel != Parallel::ddp) group_parameters(wrapped, spec, hooks);
  return hooks;
}

}  // namespace tidemark
