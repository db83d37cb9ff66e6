// tidemark diff: two runs, from whichever files tell of them, and where they part.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "commands.h"
#include "files.h"
#include "io/comparison.h"
#include "io/events_text.h"
#include "io/report_json.h"
#include "io/torch_snapshot.h"

namespace tidemark::cli {
namespace {

MemoryRecord read_record(const std::string& path) {
  const std::string text = read_file(path);
  if (io::is_torch_snapshot(text)) return io::read_torch_snapshot(text, path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) throw Error(Errc::bad_file, "it is empty", path);
  if (text[first] == '{') return record_of(io::read_report(text, path), path);
  if (text[first] == '+' || text[first] == '-') return record_of(io::read_events(text, path), path);
  throw Error(Errc::bad_file, "it is neither a report, nor a memory snapshot of PyTorch, nor a list of events", path,
              "reports are written by --json, snapshots by --snapshot, events by `tidemark predict --events`");
}

}  // namespace

void add_diff(CLI::App& app, DiffOptions& options) {
  CLI::App* command = app.add_subcommand("diff", "Compare two runs and find the first event in which they differ.");
  command->footer(
      "Examples:\n  tidemark diff predicted.json snapshot.pickle\n"
      "  tidemark diff predicted.events run.events --names");
  command
      ->add_option("a", options.a, "A report (--json), a snapshot (--snapshot, or PyTorch's own) or a list of events")
      ->required()
      ->type_name("A");
  command->add_option("b", options.b, "The other one")->required()->type_name("B");
  command->add_flag("--names", options.names, "Operations and modules of events must agree, not sizes alone");
  command->add_flag("--json", options.json, "As JSON");
}

int diff(const DiffOptions& options) {
  const Comparison comparison = compare(read_record(options.a), read_record(options.b), {options.names});
  fmt::print("{}", options.json ? io::comparison_to_json(comparison) : io::comparison_to_text(comparison));
  return comparison.same() ? 0 : 1;
}

}  // namespace tidemark::cli
