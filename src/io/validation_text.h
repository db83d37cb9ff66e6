// How true the predictions are, for a terminal.
#pragma once
#include <string>
#include <vector>

#include "validate/validation.h"

namespace tidemark::io {

struct ValidationTextOptions {
  bool rivals = false;    // estimators side by side
  bool left_out = false;  // every row that has no prediction, instead of their reasons alone
};

std::string validation_to_text(const Validation& validation, const ValidationTextOptions& options);

/// "1.53 %", and "-" for nothing; with a sign where `is_signed`.
std::string percent_text(const std::optional<double>& fraction, bool is_signed = false);
/// A value of that statistic with its unit.
std::string statistic_text(Statistic statistic, const std::optional<double>& value);
/// The figures of a group, in columns with these headings.
std::vector<std::string> statistic_headings();
std::vector<std::string> statistic_cells(const Statistics& statistics);
/// "run median <= 1.50 % (modality image)": what a bar claims.
std::string bar_text(const Bar& bar);
/// "run", "predict", "run, as stored".
std::string engine_text(const EngineResult& engine);
/// The values of a group, as a row's name.
std::string group_text(const Group& group);
/// Reasons with their counts, most first.
std::vector<std::pair<std::string, std::size_t>> reasons_of(const std::vector<LeftOut>& left_out);

}  // namespace tidemark::io
