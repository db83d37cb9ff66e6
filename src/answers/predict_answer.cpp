#include "answers/predict_answer.h"

#include "answers/cudnn_elsewhere.h"
#include "estimate/all_ranks.h"
#include "estimate/margin.h"
#include "plan/oracle.h"
#include "plan/remedies.h"

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

Report predicted(const Question& question, bool all_ranks) {
  CudnnElsewhere cudnn;
  const PredictOptions options{
      .on_event = {}, .programs = *question.programs, .is_read = true, .ask_cudnn = cudnn.ask()};
  if (all_ranks && question.spec.rank != 0)
    throw Error(Errc::bad_value, "it cannot be combined with rank", "all_ranks");
  try {
    Report report =
        (all_ranks ? predict_all_ranks : predict)(question.spec, question.model_config, question.card, options);
    if (report.fits == false && !all_ranks)
      report.remedies =
          remedies(question.spec, question.model_config, question.card, question.programs_of, options.ask_cudnn);
    return report;
  } catch (const Error& error) {
    if (cudnn.was_asked()) throw NotCaptured(error);
    throw;
  }
}

}  // namespace

std::vector<Remedy> remedies(const Spec& spec, const Value& model_config, const Card& card,
                             const ProgramsOf& programs_of, const AskCudnn& ask_cudnn) {
  const plan::Engine engine{
      .model_config = model_config, .card = card, .programs = programs_of, .keep_margin = {}, .ask_cudnn = ask_cudnn};
  return plan::remedies_of(spec, plan::make_oracle(engine));
}

Report told(Report report, const Question& question, const Data& data) {
  report.versions.emplace("tidemark", data.version);
  report.sources = question.sources;
  if (std::string size = io::size_assumption(data.cards, question.spec.gpu); !size.empty())
    report.assumptions.push_back({.what = std::move(size), .where = {}, .moves_peak = true});
  return report;
}

Report predicted(const Value& asked, const Data& data) {
  const std::string margin = text_or_nothing(asked, "margin");
  if (!margin.empty()) parse_quantile(margin);
  const Question question = read_question(asked, data);
  Report report = told(predicted(question, is_true(asked, "all_ranks")), question, data);
  if (!margin.empty()) add_margin(report, data.residuals, margin, modality_of(question.spec));
  return report;
}

}  // namespace tidemark::answers
