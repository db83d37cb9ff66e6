// tidemark plan: which configurations of a training fit on a card.
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "commands.h"

namespace tidemark::cli {

void add_plan(CLI::App& app, PlanOptions& options) {
  CLI::App* command = app.add_subcommand("plan", "Find the largest configuration of a program that fits on a card.");
  command->footer(
      "Examples:\n  tidemark plan --vary batch=1..64 --gpu h100-80gb -- python train.py --batch {batch}\n"
      "  tidemark plan --vary batch=1..64 --vary seq=512..8192:512 --gpu h100-80gb -- python train.py {batch} {seq}");
  add_vary_options(*command, options.vary);
}

void read_plan(const CLI::App& command, std::optional<std::vector<std::string>> program, PlanOptions& options) {
  if (program) read_vary_options(command, std::move(*program), options.vary);
}

int plan(const PlanOptions& options) {
  if (!options.vary.command.empty()) return plan_vary(options.vary);
  throw Error(Errc::usage, "a command is missing", "tidemark plan",
              "write it behind --, as in: tidemark plan --vary batch=1..64 --gpu h100-80gb -- python train.py {batch}");
}

}  // namespace tidemark::cli
