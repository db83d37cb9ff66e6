// A question of the page, {"spec": …, "program": {"name": …, "text": …}}: the keys of a spec file, with the model's
// config.json under "model", and the captured program of its family where there is need of one.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/spec.h"
#include "io/card_json.h"
#include "memory/card.h"
#include "program/program.h"

namespace tidemark::web {

struct Question {
  Spec spec;
  Value model_config;  // as the engine is to read it
  Card card;
  std::vector<Program> programs;
  std::map<std::string, std::string> sources;
};

/// All cards, read once.
const io::Catalogue& catalogue();

/// Throws Error, as `tidemark predict --spec` does.
Question read_question(std::string_view text);

/// The program that the question has to bring, of those that there are: "5.17.0/granite"; nothing for a family that the
/// engine knows itself, and where there is none.
std::optional<std::string> program_needed(std::string_view text);

}  // namespace tidemark::web
