// Programs for recorded trainings: those that are shipped of families, and those beside the tests, each of one
// configuration.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "estimate/predict.h"
#include "program/model.h"
#include "recordings.h"

namespace tidemark {

/// The programs of one model, in several ways of running it.
struct Captured {
  Value config;
  std::vector<Program> programs;
};

/// Those in the folder TIDEMARK_PROGRAMS.
struct AllCaptured {
  std::vector<Captured> models;
  std::vector<std::string> errors;  // of files that are not read

  AllCaptured();
  void add(Program program);
};

const AllCaptured& all_captured();
const Captured* captured_of(const Value& config, const std::string& head);

/// The text of what is shipped in the folder TIDEMARK_SHIPPED; null where there is none.
const std::string* shipped_of(const Spec& spec, const Value& config);
Program shipped_program_of(const Spec& spec, const Value& config);

Report predict_at_hand(const Spec& spec, const Value& config, const Card& card, PredictOptions options);

/// The tree of modules of a model.
std::unique_ptr<Model> model_at_hand(const Value& config, const std::string& head);

}  // namespace tidemark
