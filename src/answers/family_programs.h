// The captured programs of a model for whatever spec a search comes to.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimate/spec.h"
#include "program/program.h"

namespace tidemark::answers {

/// The captured program of a family, as a text.
struct FamilyText {
  std::string name, text;
  bool is_asked_for = false;  // by name: no other answers in its place
};

using SharedPrograms = std::shared_ptr<const std::vector<Program>>;
using ProgramsOf = std::function<SharedPrograms(const Spec&)>;

/// The program of a family bound to `model_config` for each way of running it, once; none where the family as it is written in
/// C++ answers.  May be called by several threads.
ProgramsOf programs_of_family(FamilyText family, Value model_config);

/// The same programs for every spec; without any, none, as for a family that the engine knows itself.
ProgramsOf programs_as_they_are(std::vector<Program> programs = {});

}  // namespace tidemark::answers
