// Which configuration to run: a question, and its answer.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "plan/oracle.h"
#include "plan/search.h"
#include "plan/share.h"
#include "plan/space.h"

namespace tidemark::plan {

struct Question {
  Spec spec;  // what would be run now
  Bounds bounds;
  Freedom freedom;
  std::size_t answers = 3;
  std::optional<Share> share = {};  // of a search that several machines do
  Told told = {};                   // how far it has come; may be empty
};

struct Planned {
  Spec spec;
  std::optional<std::size_t> number = {};  // of the candidate, where it is one of a space
  Value change;                            // keys of a spec file that differ from what was asked about
  Seen seen;                               // with a report, which has a row for each kind of rank, of answers alone
  StepTime time;
};

struct Plan {
  std::size_t candidates = 0;
  std::int64_t simulated = 0;
  std::vector<Planned> answers;  // the best first
  std::vector<Planned> refused;  // better ones that do not fit, with what they would need
  std::optional<Planned> least;  // where nothing fits: what needs least, and how much
  std::map<std::string, std::int64_t> refusals;
};

/// Configurations that could not be simulated.
std::int64_t unsimulated_count(const Plan& plan);

/// Whether nothing that was simulated fits, while half of the configurations or more could not be simulated.
bool is_undecided(const Plan& plan);

/// Throws Error for what is wrong in the question, and where nothing of it can be simulated, why the first cannot.
Plan make_plan(const Question& question, Goal goal, const Engine& engine);

/// Of a space that is there already.
Plan plan_in(const Question& question, const Space& space, Goal goal, const Engine& engine);

}  // namespace tidemark::plan
