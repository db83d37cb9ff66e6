// Which Python a command line will run, without running it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "environment.h"

namespace tidemark::cli {

struct Interpreter {
  std::vector<std::string> command;             // the interpreter, and options that its first line gives it
  std::optional<std::filesystem::path> script;  // the file that it runs, when the command line names one
};

/// For `python x.py`, `torchrun …`, a script with a `#!` line, a wrapper such as `env X=1 python x.py`.
/// Throws Error{not_found} for a command or a script that is not there.
Interpreter find_interpreter(const std::vector<std::string>& command, const Environment& environment);

/// The words of the interpreter that a script's first lines name; empty when it is no Python script.
/// Knows `#!/usr/bin/env [-S] python3`, `#!/path/python`, and pip's `#!/bin/sh` + `'''exec' /path/python "$0" "$@"`.
std::vector<std::string> python_of_script(std::string_view first_lines);

/// The script among the arguments of `python`: nothing for -c, -m, `-` and an interactive session.
std::optional<std::string> script_argument(const std::vector<std::string>& python_arguments);

}  // namespace tidemark::cli
