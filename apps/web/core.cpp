// What the page calls.  Every function takes JSON and returns JSON, which the caller frees; {"error": …} tells what
// went wrong, in the words of the command.
#include <emscripten/emscripten.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>

#include "answers/describe.h"
#include "answers/error_answer.h"
#include "answers/plan_answer.h"
#include "answers/predict_answer.h"
#include "answers/verdicts.h"
#include "base/error.h"
#include "data.h"
#include "estimate/all_ranks.h"
#include "io/efficiency_json.h"
#include "io/plan_text.h"
#include "io/report_json.h"
#include "io/residuals_json.h"
#include "io/training_write.h"
#include "io/value_json.h"
#include "plan/oracle.h"

namespace tidemark::web {
namespace {

using answers::Question;

/// Programs that the page has handed over.  One that came with each question would be read as JSON at every move of a
/// slider, which takes longer than anything else that is asked.
std::map<std::string, std::string>& held() {
  static std::map<std::string, std::string> programs;
  return programs;
}

std::string held_program(const std::string& name) {
  const auto found = held().find(name);
  if (found == held().end()) throw Error(Errc::not_found, "the program has not been handed over", name);
  return found->second;
}

/// What a browser has of data/, but for the texts of programs.
answers::Data read_data() {
  answers::Data read{.version = TIDEMARK_VERSION,
                     .cards = io::read_catalogue(kGpus, "gpus.json"),
                     .device_memory = std::string(kDeviceMemory),
                     .residuals = io::read_residuals(kResiduals, "residuals.json"),
                     .efficiency = io::read_efficiency(kEfficiency, "efficiency.json"),
                     .programs = {.names = {program_names().begin(), program_names().end()}, .text = held_program}};
  io::read_step_time_residuals(kStepTimeResiduals, "step_time_residuals.json", read.efficiency);
  return read;
}

const answers::Data& data() {
  static const answers::Data read = read_data();
  return read;
}

Question read_question(const char* text) {
  return answers::read_question(io::value_from_json(text, "question"), data());
}

char* copied(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

template <class Work>  // that returns JSON as a text
char* answered_text(const Work& work) {
  try {
    return copied(work());
  } catch (const Error& error) {
    return copied(io::value_to_json_line(answers::error_value(error)));
  } catch (const std::exception& error) {
    return copied(io::value_to_json_line(answers::error_value_of_bug(error.what())));
  }
}

template <class Work>
char* answered(const Work& work) {
  return answered_text([&] { return io::value_to_json_line(work()); });
}

std::string predicted(const char* text) {
  return io::write_report(answers::predicted(io::value_from_json(text, "question"), data()));
}

std::string predicted_alone(const char* text) {
  const Value asked = io::value_from_json(text, "question");
  const Value* margin = asked.find("margin");
  const std::string kept = margin ? to_text(*margin, {"question", "margin"}) : "";
  return io::write_report(answers::predicted_alone(answers::read_question(asked, data()), data(), kept, true));
}

std::string predicted_ranks(const char* text) {
  constexpr std::int64_t kFew = 16;
  const Question question = read_question(text);
  const PredictOptions options{.on_event = {}, .programs = *question.programs, .is_read = true};
  Report report = question.spec.gpus <= kFew
                      ? predict_all_ranks(question.spec, question.model_config, question.card, options)
                      : predict_ranks(question.spec, plan::kinds_of_ranks(question.spec), question.model_config,
                                      question.card, options);
  return io::write_report(answers::told(std::move(report), question, data()));
}

Value planned(const char* text) {
  const answers::PlanAnswer found = answers::planned(io::value_from_json(text, "question"), data());
  return Value::Map{{"plan", io::value_to_json(found.plan)}, {"text", found.text}, {"card_bytes", found.card_bytes}};
}

Value written(const char* text, const char* format, const char* path) {
  const Question question = read_question(text);
  const Report report = predict(question.spec, question.model_config, question.card,
                                {.on_event = {}, .interval = false, .programs = *question.programs});
  const Peak& peak = report.peak;
  const io::TrainingAnswer answer{.spec = question.spec,
                                  .model = "MODEL",
                                  .model_config = question.spec.model,
                                  .peak = std::to_string(peak.device_bytes) + " bytes on the device",
                                  .card = question.card.name};
  Value::List files;
  for (const io::WrittenFile& file : io::write_training_files(format, answer, path))
    files.push_back(Value::Map{{"path", file.path}, {"text", file.text}});
  return Value::Map{{"files", std::move(files)}};
}

Value options(const char* text) {
  const Value keys = io::value_from_json(text, "keys");
  return Value::Map{{"options", io::options_of(keys)}};
}

}  // namespace
}  // namespace tidemark::web

using namespace tidemark;
using namespace tidemark::web;

extern "C" {

/// Cards, families, programs, categories, and the schema of the spec.
EMSCRIPTEN_KEEPALIVE char* tidemark_describe() {
  return answered([] { return answers::described(data()); });
}

/// {"program": name or null}: what predicting the question needs besides.
EMSCRIPTEN_KEEPALIVE char* tidemark_program_needed(const char* question) {
  return answered([&] {
    const std::optional<std::string> name = answers::program_needed(io::value_from_json(question, "question"), data());
    return Value::Map{{"program", name ? Value(*name) : Value()}};
  });
}

/// {"program": name or null}: what answers the question of what has been handed over; where more is needed, an error
/// whose place is the name of that.
EMSCRIPTEN_KEEPALIVE char* tidemark_program_that_answers(const char* question) {
  return answered([&] {
    const answers::SharedPrograms programs = read_question(question).programs;
    return Value::Map{{"program", programs->empty() ? Value() : Value(programs->front().file)}};
  });
}

/// Keeps a captured program: {"held": its name}.  A question brings its own, or is answered by the one that is kept.
EMSCRIPTEN_KEEPALIVE char* tidemark_hold_program(const char* name, const char* text) {
  return answered([&] {
    held().insert_or_assign(name, text);
    return Value::Map{{"held", name}};
  });
}

/// What `predict --json` writes.
EMSCRIPTEN_KEEPALIVE char* tidemark_predict(const char* question) {
  return answered_text([&] { return predicted(question); });
}

/// The same without remedies, of which each is a prediction.
EMSCRIPTEN_KEEPALIVE char* tidemark_predict_alone(const char* question) {
  return answered_text([&] { return predicted_alone(question); });
}

/// What `predict --all-ranks --json` writes; of more ranks than a few, one of each kind.
EMSCRIPTEN_KEEPALIVE char* tidemark_predict_ranks(const char* question) {
  return answered_text([&] { return predicted_ranks(question); });
}

/// {"methods": rows, "cards": rows, "remedies": changes} of the question's keys (answers/verdicts.h).
EMSCRIPTEN_KEEPALIVE char* tidemark_verdicts(const char* question) {
  return answered([&] { return answers::verdicts(io::value_from_json(question, "question"), data()); });
}

/// Keys of a spec with another method.
EMSCRIPTEN_KEEPALIVE char* tidemark_with_method(const char* keys, const char* method) {
  return answered([&] { return answers::with_other_method(io::value_from_json(keys, "keys"), method); });
}

/// {"plan": the text that `plan --json` writes, "text": what it prints, "card_bytes"}; the question's key "plan" has
/// the wishes.
EMSCRIPTEN_KEEPALIVE char* tidemark_plan(const char* question) {
  return answered([&] { return planned(question); });
}

/// {"files": …}, what `plan --write FORMAT=PATH` writes.
EMSCRIPTEN_KEEPALIVE char* tidemark_write(const char* question, const char* format, const char* path) {
  return answered([&] { return written(question, format, path); });
}

/// {"options": …}: keys of a spec file as options of the command line.
EMSCRIPTEN_KEEPALIVE char* tidemark_options(const char* keys) {
  return answered([&] { return options(keys); });
}

}  // extern "C"
