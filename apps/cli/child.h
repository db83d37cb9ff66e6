// The user's program: started, watched, and cleaned up after.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "environment.h"

namespace tidemark::cli {

struct ChildResult {
  int exit_code = 0;  // 128 + n when signal n ended it
  int signal = 0;     // the signal that ended it, or 0
  double seconds = 0;
  long long peak_rss_bytes = 0;  // of the largest process
  std::string ended_by_us = {};  // why we ended it, a sentence; empty if we did not
  bool host_ran_out = false;     // the kernel has killed a process for want of the host's memory meanwhile
};

/// Runs `program` with our stdin, stdout and stderr.  SIGINT and SIGTERM that reach us are passed on; when it has
/// ended, every process that it left behind is ended too.  The file `progress` of `run_folder` is shown as one line
/// that rewrites itself when `show_progress` is set; once there is a file `served`, a server has been asked all that it
/// was to be asked, and is ended as a success.  The output of the program goes to the file `output` if that is given.
/// That the host's memory runs short is said on stderr, and the program is ended where the kernel would soon kill for
/// want of it, or where it holds more than `host_memory_bytes`.  Signals that come after its end are ignored: the
/// caller is about to end too.
ChildResult run_child(const std::string& program, const std::vector<std::string>& command,
                      const Environment& environment, const std::filesystem::path& run_folder, bool show_progress,
                      const std::filesystem::path& output = {}, std::optional<std::int64_t> host_memory_bytes = {});

/// Starts `program` with the signal mask `mask`; its output goes to the end of the file `output` unless that is empty,
/// and its input comes from `input` unless that is null.  It ends when we are killed.
pid_t start_child(const std::string& program, const std::vector<std::string>& command, const Environment& environment,
                  const sigset_t& mask, const std::filesystem::path& output, const char* input = nullptr);

}  // namespace tidemark::cli
