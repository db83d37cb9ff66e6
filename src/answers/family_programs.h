// The captured programs of a model for whatever spec a search comes to.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "answers/question.h"

namespace tidemark::answers {

using SharedPrograms = std::shared_ptr<const std::vector<Program>>;
using ProgramsOf = std::function<SharedPrograms(const Spec&)>;

/// The program of a family bound to `model_config` for each way of running it, once; none where the family as it is written in
/// C++ answers.  May be called by several threads.
ProgramsOf programs_of_family(FamilyText family, Value model_config);

/// The same programs for every spec; none for a family that the engine knows itself.
ProgramsOf programs_as_they_are(SharedPrograms programs);

}  // namespace tidemark::answers
