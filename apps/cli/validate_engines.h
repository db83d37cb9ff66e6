// What `predict` and `run` say of the rows of corpora.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "environment.h"
#include "io/card_json.h"
#include "validate/validation.h"

namespace tidemark::cli {

/// A row that is asked for, with what every engine needs of it.
struct AskedRow {
  const Corpus* corpus = nullptr;
  const Measurement* row = nullptr;
  Card card;
};

/// The rows of `corpus` whose id holds `only` and that some engine can be asked.  Throws Error for a card that does not
/// exist.
std::vector<AskedRow> asked_rows(const Corpus& corpus, const std::string& only, const std::filesystem::path& data);

/// In this process, over all cores.  What predict() does not support is a reason; what is wrong in a row is thrown,
/// before any of them is predicted where that can be known.
std::vector<Outcome> predict_rows(const std::vector<AskedRow>& rows);

/// What was stored with the corpora.
std::vector<Outcome> stored_outcomes(const std::vector<AskedRow>& rows);

struct RunnerOptions {
  std::map<std::string, std::string> pythons;  // by the name of the environment; "" is the default
  std::size_t jobs = 1;
  /// Called as each row is done, by one thread at a time.
  std::function<void(const AskedRow&, const Outcome&)> on_outcome;
};

/// `tidemark run` of each row's script as a process.  Throws Error before the first when a script or an interpreter is
/// missing; a run that fails later is an outcome that failed.
std::vector<Outcome> run_rows(const std::vector<AskedRow>& rows, const RunnerOptions& options,
                              const Environment& environment);

}  // namespace tidemark::cli
