// tidemark report: a stored report again, in other forms.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "files.h"
#include "io/report_json.h"
#include "io/report_text.h"

namespace tidemark::cli {

void add_report(CLI::App& app, ReportOptions& options) {
  CLI::App* command = app.add_subcommand("report", "Show a stored report (--json of an earlier run) again.");
  command->add_option("file", options.file, "The report, as JSON")->required()->type_name("FILE");
  command->add_option("--json", options.files.json, "Write it as JSON (- is stdout)")->type_name("PATH");
  command->add_option("--html", options.files.html, "Write it as one HTML file")->type_name("PATH");
  command->add_option("--csv", options.files.csv, "Write it as CSV (- is stdout)")->type_name("PATH");
}

int report(const ReportOptions& options) {
  const Report stored = io::read_report(read_file(options.file), options.file);
  write_report_files(stored, options.files);
  const bool asked_for_files = !options.files.json.empty() || !options.files.html.empty() || !options.files.csv.empty();
  if (!asked_for_files) fmt::print("{}", io::report_to_text(stored));
  return 0;
}

}  // namespace tidemark::cli
