// The report that a question asks for.
#pragma once
#include "answers/question.h"
#include "estimate/predict.h"
#include "estimate/report.h"

namespace tidemark::answers {

/// With the keys "all_ranks" (true: a report on every rank) and "margin" ("p90": keep that quantile of measured
/// residuals free) of `asked`. Throws Error.
Report predicted(const Value& asked, const Data& data);

/// A report without remedies, with `margin` ("p90", or empty) kept free.  `is_read`: as in PredictOptions.
Report predicted_alone(const Question& question, const Data& data, const std::string& margin, bool is_read);

/// The remedies of a question that does not fit.
std::vector<Remedy> remedies_of(const Question& question);

/// What a report says of its versions and sources is filled in.
Report told(Report report, const Question& question, const Data& data);

/// Changes with which a training that does not fit would fit.  `programs_of`: of each changed spec.
std::vector<Remedy> remedies(const Spec& spec, const Value& model_config, const Card& card,
                             const ProgramsOf& programs_of, const AskCudnn& ask_cudnn);

}  // namespace tidemark::answers
