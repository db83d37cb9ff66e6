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
};

using SharedPrograms = std::shared_ptr<const std::vector<Program>>;
using ProgramsOf = std::function<SharedPrograms(const Spec&)>;

using TextOf = std::function<FamilyText()>;

/// Of at least one family the first that holds, bound to `model_config` for each way of running it, once; what holds
/// for none is refused as the first refuses it.  A text is read when it is needed.  May be called by several threads.
ProgramsOf programs_of_families(std::vector<TextOf> families, Value model_config);

/// The same programs for every spec, or none.
ProgramsOf programs_as_they_are(std::vector<Program> programs = {});

}  // namespace tidemark::answers
