// A user's own measurements as a small table: one line per run, few columns (docs/reference/measurements.md).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "validate/measurement.h"

namespace tidemark::io {

/// The rows of a table as RFC 4180 has it: commas, and quotes around what holds a comma, a quote or a line end.
struct CsvRow {
  std::int64_t line = 0;  // where it begins
  std::vector<std::string> cells;
};
/// Throws Error{bad_file} with the line.  Blank lines are passed over.
std::vector<CsvRow> read_csv(std::string_view text, const std::string& where);

/// The first line names the columns: keys of a row, `measured_gib` or `measured_mib`, keys of a spec (`lora.r` for
/// nested ones), `command`.  An empty cell says nothing.  Throws Error with file, line and column.
std::vector<Measurement> read_measurements_csv(std::string_view text, const std::string& where);

}  // namespace tidemark::io
