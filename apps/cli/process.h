// Helper processes: started, waited for, their output captured.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <memory>
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

/// A helper that answers each line with one.
class Conversation {
 public:
  /// Throws Error{io} when it cannot be started.
  Conversation(const std::vector<std::string>& command, const Environment& environment);
  /// Waits until it has ended, which it does when there is no more to read.
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// The next line that it writes, of `line` if that is not empty; nothing where it has ended instead.
  std::optional<std::string> answer(const std::string& line = {});
  /// What it has written on stderr so far.
  std::string errors() const;

 private:
  struct Process;
  std::unique_ptr<Process> process_;
};

/// The last line that a helper, or Tidemark itself, wrote on stderr, without our name in front of it.
std::string reason_in(std::string errors);

/// 128 + n for signal n, as a shell has it.
int exit_code_of(int wait_status);

/// Pointers into `strings`, null at the end, as execve wants them.
std::vector<char*> pointers_to(std::vector<std::string>& strings);

}  // namespace tidemark::cli
