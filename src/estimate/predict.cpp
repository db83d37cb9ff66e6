#include "estimate/predict.h"

#include <fmt/format.h>

#include "base/error.h"
#include "estimate/program.h"
#include "estimate/recorder.h"
#include "estimate/verdict.h"
#include "memory/allocator_settings.h"
#include "zoo/model.h"

namespace tidemark {
namespace {

RunConfig run_config(const Spec& spec, const Card& card, const PredictOptions& options) {
  RunConfig config{.card = card, .allocator = {}, .versions = {spec.torch, spec.transformers}, .on_event = options.on_event};
  config.allocator.rules = allocator_rules();
  config.allocator.settings = parse_allocator_settings(spec.allocator, config.allocator.rules);
  config.allocator.device = {.total_bytes = card.total_bytes,
                             .unavailable_bytes = card.driver_reserved_bytes,
                             .context_bytes = card.context_bytes.typical};
  return config;
}

const std::string& model_type_of(const Value& config) {
  const Value* type = config.find("model_type");
  if (!type || !type->as_text())
    throw Error(Errc::bad_value, "it does not say which model it is", "config.json: model_type");
  return *type->as_text();
}

std::unique_ptr<Model> make_model(const Spec& spec, const Value& config) {
  const ModelEntry& entry = model_entry(model_type_of(config));
  if (!entry.make)
    throw Error(Errc::unsupported, fmt::format("{} is a part of other models and has no loss", entry.model_type),
                "config.json: model_type");
  return entry.make({config, spec.head == "auto" ? entry.heads.front() : spec.head, context_of(spec), dtype_of(spec.dtype)});
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
    run_program(*run, *model, spec, model_type_of(model_config), recorder);
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
