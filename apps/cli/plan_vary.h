// tidemark plan --vary … -- COMMAND: the largest configuration of a program that fits, found by virtual runs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tidemark::cli {

struct VaryOptions {
  std::vector<std::string> vary;       // NAME=VALUES, as plan/varied.h reads them
  std::vector<std::string> run_words;  // options of `tidemark run`, as they were given
  std::vector<std::string> command;    // after --
  std::string json;                    // a file, - for stdout
  bool quiet = false;                  // no lines about what goes on
  std::int64_t jobs = 0;               // runs at a time; 0: as many as cores allow, two at most
};

/// --vary, --jobs and --json, and the options of `tidemark run` that do not name a file, each unless `plan_command` has
/// one of that name.
void add_vary_options(CLI::App& plan_command);

/// What was given of them, and the command; throws Error{usage} for an option that has no meaning with a command.
void read_vary_options(const CLI::App& plan_command, std::vector<std::string> command, VaryOptions& options);

int plan_vary(const VaryOptions& options);

}  // namespace tidemark::cli
