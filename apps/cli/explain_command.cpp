// tidemark explain: what is live at the peak, of a prediction or of a stored report.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "commands.h"
#include "files.h"
#include "io/report_explanation.h"
#include "io/report_json.h"

namespace tidemark::cli {
namespace {

// A report and a config.json are both JSON; the report says what it is.
bool is_report(const std::string& text) { return text.find("\"tidemark.report/") < 4096; }

std::optional<Report> stored_report(const SpecOptions& options) {
  std::error_code ignored;
  if (options.config.empty() || !std::filesystem::is_regular_file(options.config, ignored)) return std::nullopt;
  const std::string text = read_file(options.config);
  if (!is_report(text)) return std::nullopt;
  if (!options.file.empty() || !options.said.as_map()->empty())
    throw Error(Errc::usage, "it is a report already, so there is nothing left to say about the training",
                options.config, "leave the other options out, or name a config.json");
  return io::read_report(text, options.config);
}

}  // namespace

void add_explain(CLI::App& app, ExplainOptions& options) {
  CLI::App* command = app.add_subcommand("explain", "Show what is live at the peak, and where it comes from.");
  command->footer(
      "Examples:\n  tidemark explain report.json -d module,operation -n 20\n"
      "  tidemark explain config.json --batch 16 --gpu h100-80gb");
  command
      ->add_option("-d,--by", options.by,
                   "Lists to show: category, module, operation, line [category,module,operation]")
      ->type_name("LISTS")
      ->group("Output");
  command->add_option("-n,--rows", options.rows, "Rows of each list [12]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}).description(""))
      ->type_name("N")
      ->group("Output");
  command->add_flag("--layers", options.each_layer, "Each layer by itself, instead of repeated ones as one row")
      ->group("Output");
  add_spec_options(*command, options.spec);
}

int explain(const ExplainOptions& options) {
  const std::vector<io::PeakList> lists = io::parse_peak_lists(options.by, "--by");
  const std::optional<Report> stored = stored_report(options.spec);
  Asked asked = stored ? Asked() : read_asked(options.spec);
  const Report report = stored ? *stored : predicted(asked, {});
  fmt::print("{}", io::explanation_of(report, {lists, static_cast<std::size_t>(options.rows), !options.each_layer}));
  return 0;
}

}  // namespace tidemark::cli
