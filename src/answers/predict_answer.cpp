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

/// An error after a question to cuDNN is one of what would have to be captured.
template <class Work>
auto with_cudnn_elsewhere(const Question& question, bool is_read, const Work& work) {
  CudnnElsewhere cudnn;
  const PredictOptions options{
      .on_event = {}, .programs = *question.programs, .is_read = is_read, .ask_cudnn = cudnn.ask()};
  try {
    return work(options);
  } catch (const Error& error) {
    if (cudnn.was_asked()) throw NotCaptured(error);
    throw;
  }
}

Report predicted(const Question& question, bool all_ranks) {
  if (all_ranks && question.spec.rank != 0)
    throw Error(Errc::bad_value, "it cannot be combined with rank", "all_ranks");
  Report report = with_cudnn_elsewhere(question, true, [&](const PredictOptions& options) {
    return (all_ranks ? predict_all_ranks : predict)(question.spec, question.model_config, question.card, options);
  });
  if (report.fits == false && !all_ranks) report.remedies = remedies_of(question);
  return report;
}

void keep_free(Report& report, const Spec& spec, const Data& data, const std::string& margin) {
  if (!margin.empty()) add_margin(report, data.residuals, margin, modality_of(spec));
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
  keep_free(report, question.spec, data, margin);
  return report;
}

Report predicted_alone(const Question& question, const Data& data, const std::string& margin, bool is_read) {
  Report report = with_cudnn_elsewhere(question, is_read, [&](const PredictOptions& options) {
    return predict(question.spec, question.model_config, question.card, options);
  });
  report = told(std::move(report), question, data);
  keep_free(report, question.spec, data, margin);
  return report;
}

std::vector<Remedy> remedies_of(const Question& question) {
  return with_cudnn_elsewhere(question, false, [&](const PredictOptions& options) {
    return remedies(question.spec, question.model_config, question.card, question.programs_of, options.ask_cudnn);
  });
}

}  // namespace tidemark::answers
