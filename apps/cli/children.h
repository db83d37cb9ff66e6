// Several processes at once, watched together.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "environment.h"

namespace tidemark::cli {

struct ChildCommand {
  std::vector<std::string> command;  // the program's path first
  std::filesystem::path output;      // a file for all that it prints
};

struct ChildrenWatch {
  std::function<void()> on_tick;                            // a few times a second
  std::function<bool(std::size_t index, int exit)> on_end;  // false: the others are ended too; 128 + n for signal n
};

/// Runs all of them at once, without input, until each has ended.  Signals that reach us are passed on.  Returns 0, or
/// the signal that asked us to end.
int run_children(const std::vector<ChildCommand>& commands, const Environment& environment, const ChildrenWatch& watch);

}  // namespace tidemark::cli
