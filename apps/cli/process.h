// Helper processes: started, waited for, their output captured.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "environment.h"

namespace tidemark::cli {

struct Finished {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string output, errors;
};

/// The file that a shell would run for `command`; nothing when there is none.
std::optional<std::filesystem::path> find_command(const std::string& command, const Environment& environment);

/// Runs a program to its end with no input, in `folder` unless that is empty.  Throws Error{io} when it cannot be
/// started.
Finished run_helper(const std::vector<std::string>& command, const Environment& environment,
                    const std::string& folder = {});

/// Runs all of them, at most `at_once` at a time; the results are in the same order.
std::vector<Finished> run_helpers(const std::vector<std::vector<std::string>>& commands, std::size_t at_once,
                                  const Environment& environment);

/// 128 + n for signal n, as a shell has it.
int exit_code_of(int wait_status);

/// Pointers into `strings`, null at the end, as execve wants them.
std::vector<char*> pointers_to(std::vector<std::string>& strings);

}  // namespace tidemark::cli
