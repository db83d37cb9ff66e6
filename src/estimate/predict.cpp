#include "estimate/predict.h"

#include <fmt/format.h>

#include "base/error.h"
#include "estimate/recorder.h"
#include "estimate/verdict.h"
#include "memory/allocator_settings.h"
#include "train/step.h"
#include "zoo/model.h"

namespace tidemark {
namespace {

Dtype dtype_of(WeightDtype dtype) {
  constexpr Dtype kDtypes[] = {Dtype::bf16, Dtype::f16, Dtype::f32};
  return kDtypes[static_cast<int>(dtype)];
}

RunConfig run_config(const Spec& spec, const Card& card, const PredictOptions& options) {
  RunConfig config{.card = card, .allocator = {}, .versions = {spec.torch, spec.transformers}, .on_event = options.on_event};
  config.allocator.rules = allocator_rules();
  config.allocator.settings = parse_allocator_settings(spec.allocator, config.allocator.rules);
  config.allocator.device = {.total_bytes = card.total_bytes,
                             .unavailable_bytes = card.driver_reserved_bytes,
                             .context_bytes = card.context_bytes.typical};
  return config;
}

Context context_of(const Spec& spec) {
  Context context{.attention = static_cast<AttentionKind>(spec.attn),
                  .checkpointing = static_cast<CheckpointKind>(spec.checkpointing),
                  .checkpoint_every = spec.checkpoint_every,
                  .use_cache = spec.checkpointing == Checkpointing::none,
                  .padding = spec.padding};
  if (spec.use_cache != UseCache::automatic) context.use_cache = spec.use_cache == UseCache::yes;
  return context;
}

Data data_of(const Spec& spec) {
  const ImageSize size = parse_image_size(spec.image_size);
  return {spec.batch, spec.seq, spec.images, size.height, size.width, spec.image_tokens, spec.labels};
}

std::unique_ptr<Model> make_model(const Spec& spec, const Value& config) {
  const Value* type = config.find("model_type");
  if (!type || !type->as_text())
    throw Error(Errc::bad_value, "it does not say which model it is", "config.json: model_type");
  const ModelEntry& entry = model_entry(*type->as_text());
  return entry.make({config, spec.head == "auto" ? entry.heads.front() : spec.head, context_of(spec), dtype_of(spec.dtype)});
}

bool contains_any(const std::string& name, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns)
    if (name.find(pattern) != std::string::npos) return true;
  return false;
}

void freeze(Module& root, const Spec& spec) {
  visit_parameters(root, [&](const std::string& name, Parameter& parameter) {
    bool trains = spec.train_only.empty() || contains_any(name, spec.train_only);
    if (contains_any(name, spec.freeze)) trains = false;
    parameter.tensor.impl().requires_grad = trains;
  });
}

Optimizer make_optimizer(Module& root, const Spec& spec) {
  Optimizer optimizer{.options = {}, .parameters = {}, .state = {}, .step = adamw_step};
  visit_parameters(root, [&](const std::string&, Parameter& parameter) {
    if (parameter.tensor.requires_grad()) optimizer.parameters.push_back(parameter.tensor);
  });
  if (optimizer.parameters.empty()) throw Error(Errc::bad_value, "nothing is left to train", "freeze");
  (void)spec;
  return optimizer;
}

StepOptions step_options(const Spec& spec) {
  return {.steps = spec.steps,
          .grad_accumulation = spec.grad_accumulation,
          .max_grad_norm = spec.max_grad_norm,
          .set_to_none = spec.set_to_none,
          .autocast = spec.autocast != Autocast::none,
          .autocast_dtype = spec.autocast == Autocast::fp16 ? Dtype::f16 : Dtype::bf16,
          .pixel_dtype = dtype_of(spec.dtype)};
}

/// What the user's program would do, from the weights on.
void run_program(Run& run, Model& model, const Spec& spec, Recorder& recorder) {
  {
    const Setting<Category> category(run.category, Category::parameters);
    model.root.to_device(run);
  }
  freeze(model.root, spec);
  recorder.end_phase(0, Phase::load);
  Optimizer optimizer = make_optimizer(model.root, spec);
  train(run, model, model.batch_sizes(data_of(spec)), optimizer, step_options(spec),
        [&](std::int64_t step, StepPhase phase) {
          constexpr Phase kPhases[] = {Phase::forward, Phase::backward, Phase::optimizer};
          recorder.end_phase(step, kPhases[static_cast<int>(phase)]);
        });
}

}  // namespace

Report predict(const Spec& spec, const Value& model_config, const Card& card, const PredictOptions& options) {
  Report report;
  report.engine = "predict";
  report.card = {card.key, card.name, card.total_bytes, card.driver_reserved_bytes, card.context_bytes.typical};
  report.versions = {{"torch", spec.torch}, {"transformers", spec.transformers}};
  std::unique_ptr<Run> run = std::make_unique<Run>(run_config(spec, card, options));
  const std::unique_ptr<Model> model = make_model(spec, model_config);
  Recorder recorder(*run);
  try {
    run_program(*run, *model, spec, recorder);
  } catch (const DeviceOutOfMemory& full) {
    report.oom = OutOfMemoryReport{.requested_bytes = full.requested_bytes, .in_use_bytes = {}, .message = full.message, .where = {}};
  }
  recorder.fill(report);
  judge(report);
  return report;
}

std::vector<ModelInfo> known_models() {
  std::vector<ModelInfo> models;
  for (const ModelEntry& entry : model_entries())
    models.push_back({entry.model_type, entry.summary, {entry.heads.begin(), entry.heads.end()}});
  return models;
}

std::vector<OpInfo> known_ops() { return {}; }

}  // namespace tidemark
