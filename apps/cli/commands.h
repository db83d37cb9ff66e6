// One subcommand = one file with two functions: what it takes, and what it does.  The int is the exit code.
#pragma once
#include <optional>
#include <vector>

#include "command_line.h"

namespace CLI {
class App;
}

namespace tidemark::cli {

void add_run(CLI::App& app, RunOptions& options);
void check_run_options(const RunOptions& options);
int run(const RunOptions& options);

void add_predict(CLI::App& app, PredictCommandOptions& options);
int predict(const PredictCommandOptions& options);
/// The report of what is asked, whose program is captured if it is unknown; a line per event goes to the file `events`
/// unless that is empty.
Report predicted(Asked& asked, const std::string& events);

void add_explain(CLI::App& app, ExplainOptions& options);
int explain(const ExplainOptions& options);

void add_diff(CLI::App& app, DiffOptions& options);
int diff(const DiffOptions& options);

void add_gpus(CLI::App& app, GpusOptions& options);
int gpus(const GpusOptions& options);

void add_models(CLI::App& app, ModelsOptions& options);
int models(const ModelsOptions& options);

void add_ops(CLI::App& app, ListOptions& options);
int ops(const ListOptions& options);

void add_plan(CLI::App& app, PlanOptions& options);
/// What was given to `plan`, and the program behind -- if there is one.
void read_plan(const CLI::App& command, std::optional<std::vector<std::string>> program, PlanOptions& options);
int plan(const PlanOptions& options);

void add_report(CLI::App& app, ReportOptions& options);
int report(const ReportOptions& options);

void add_prepare(CLI::App& app, PrepareOptions& options);
int prepare(const PrepareOptions& options);

void add_answer(CLI::App& app, AnswerOptions& options);
int answer(const AnswerOptions& options);

void add_serve(CLI::App& app, ServeOptions& options);
int serve(ServeOptions options);

void add_mcp(CLI::App& app);
int mcp();

void add_estimate_memory(CLI::App& app, EstimateMemoryOptions& options);
int estimate_memory(const EstimateMemoryOptions& options);

void add_validate(CLI::App& app, ValidateOptions& options);
int validate(const ValidateOptions& options);

int version();

}  // namespace tidemark::cli
