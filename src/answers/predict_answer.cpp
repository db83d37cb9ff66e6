#include "answers/predict_answer.h"

#include "estimate/all_ranks.h"
#include "estimate/margin.h"

namespace tidemark::answers {
namespace {

bool is_true(const Value& asked, const char* key) {
  const Value* value = asked.find(key);
  return value && to_bool(*value, {"", key});
}

std::string text_or_nothing(const Value& asked, const char* key) {
  const Value* value = asked.find(key);
  return value ? to_text(*value, {"", key}) : "";
}

/// As the rows of validation/ tell them apart.
const char* modality_of(const Spec& spec) {
  if (spec.images == 0) return "text";
  return spec.seq > 0 ? "vision-language" : "vision";
}

Report predicted_ranks(const Question& question, const Data& data) {
  if (question.spec.rank != 0) throw Error(Errc::bad_value, "it cannot be combined with rank", "all_ranks");
  return told(predict_all_ranks(question.spec, question.model_config, question.card, {.on_event = {}, .programs = *question.programs}),
              question, data);
}

}  // namespace

Report told(Report report, const Question& question, const Data& data) {
  report.versions.emplace("tidemark", data.version);
  report.sources = question.sources;
  return report;
}

Report predicted(const Question& question, const Data& data, PredictOptions options) {
  options.programs = *question.programs;
  return told(predict(question.spec, question.model_config, question.card, options), question, data);
}

Report predicted(const Value& asked, const Data& data) {
  const std::string margin = text_or_nothing(asked, "margin");
  if (!margin.empty()) parse_quantile(margin);
  const Question question = read_question(asked, data);
  Report report = is_true(asked, "all_ranks") ? predicted_ranks(question, data) : predicted(question, data);
  if (!margin.empty()) add_margin(report, data.residuals, margin, modality_of(question.spec));
  return report;
}

}  // namespace tidemark::answers
