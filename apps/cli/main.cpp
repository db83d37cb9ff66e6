// The edge: arguments in, exit code out.  0 fits, 1 does not fit, 2 usage, 3 unsupported, 4 the program failed,
// 70 a bug in Tidemark.
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "base/check.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "commands.h"

namespace {

using namespace tidemark;

int exit_code_of(Errc code) { return code == Errc::unsupported ? 3 : 2; }

void print_error(const Error& error) {
  const std::string where = error.where().empty() ? "" : error.where() + ": ";
  fmt::print(stderr, "tidemark: {}{}\n", where, error.message());
  if (!error.hint().empty()) fmt::print(stderr, "  {}\n", error.hint());
}

struct Dispatch {
  int operator()(const cli::RunOptions& options) const { return cli::run(options); }
  int operator()(const cli::PredictCommandOptions& options) const { return cli::predict(options); }
  int operator()(const cli::ExplainOptions& options) const { return cli::explain(options); }
  int operator()(const cli::DiffOptions& options) const { return cli::diff(options); }
  int operator()(const cli::ModelsOptions& options) const { return cli::models(options); }
  int operator()(const cli::OpsOptions& options) const { return cli::ops(options); }
  int operator()(const cli::GpusOptions& options) const { return cli::gpus(options); }
  int operator()(const cli::PlanOptions& options) const { return cli::plan(options); }
  int operator()(const cli::ReportOptions& options) const { return cli::report(options); }
  int operator()(const cli::PrepareOptions& options) const { return cli::prepare(options); }
  int operator()(const cli::ValidateOptions& options) const { return cli::validate(options); }
  int operator()(const cli::AnswerOptions& options) const { return cli::answer(options); }
  int operator()(const cli::ServeOptions& options) const { return cli::serve(options); }
  int operator()(const cli::McpOptions&) const { return cli::mcp(); }
  int operator()(const cli::EstimateMemoryOptions& options) const { return cli::estimate_memory(options); }
  int operator()(const cli::VersionOptions&) const { return cli::version(); }
};

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow (`ulimit -f`) is an error that is said
  try {
    return std::visit(Dispatch{}, cli::parse_command_line({argv + 1, argv + argc}));
  } catch (const cli::HelpRequest& help) {
    fmt::print("{}", help.what());
    return 0;
  } catch (const Error& error) {
    print_error(error);
    return exit_code_of(error.code());
  } catch (const std::filesystem::filesystem_error& error) {  // a full disk, a folder that went away
    fmt::print(stderr, "tidemark: {}: {}\n", error.path1().string(), error.code().message());
    return exit_code_of(Errc::io);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tidemark: this is a bug in Tidemark, please report it: {}\n", error.what());
    return 70;
  }
}
