#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace tidemark::cli {
namespace {

// Output goes to anonymous files rather than pipes: no reader is needed while the program runs.
class CaptureFile {
 public:
  CaptureFile() : file_(::memfd_create("tidemark", MFD_CLOEXEC)) {
    if (file_ < 0) throw Error(Errc::io, std::generic_category().message(errno), "memfd_create");
  }
  CaptureFile(CaptureFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  CaptureFile& operator=(CaptureFile&&) = delete;
  ~CaptureFile() {
    if (file_ >= 0) ::close(file_);
  }
  int descriptor() const { return file_; }
  std::string text() const {
    std::string result;
    char buffer[4096];
    ::ssize_t got = 0;
    for (off_t at = 0; (got = ::pread(file_, buffer, sizeof buffer, at)) > 0; at += got)
      result.append(buffer, static_cast<std::size_t>(got));
    return result;
  }

 private:
  int file_;
};

struct Helper {
  pid_t pid = -1;
  CaptureFile output, errors;

  Helper(const std::vector<std::string>& command, const Environment& environment, const std::string& folder = {}) {
    std::vector<std::string> arguments = command, variables = environment.strings();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
    if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    const int error = ::posix_spawn(&pid, command[0].c_str(), &actions, nullptr, pointers_to(arguments).data(),
                                    pointers_to(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error) throw Error(Errc::io, "cannot be started: " + std::generic_category().message(error), command[0]);
  }

  Finished wait() {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return {exit_code_of(status), output.text(), errors.text()};
  }
};

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::optional<std::filesystem::path> find_command(const std::string& command, const Environment& environment) {
  if (command.empty()) return std::nullopt;
  if (command.find('/') != std::string::npos)
    return is_program(command) ? std::optional<std::filesystem::path>(command) : std::nullopt;
  const std::string path = environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    const auto candidate = std::filesystem::path(folder.empty() ? "." : folder) / command;
    if (is_program(candidate)) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

Finished run_helper(const std::vector<std::string>& command, const Environment& environment,
                    const std::string& folder) {
  return Helper(command, environment, folder).wait();
}

std::vector<Finished> run_helpers(const std::vector<std::vector<std::string>>& commands, std::size_t at_once,
                                  const Environment& environment) {
  std::vector<Helper> started;
  std::vector<Finished> finished;
  started.reserve(commands.size());
  for (const auto& command : commands) {
    // The oldest is waited for first; they take about as long as each other.
    if (started.size() - finished.size() >= at_once) finished.push_back(started[finished.size()].wait());
    started.emplace_back(command, environment);
  }
  while (finished.size() < started.size()) finished.push_back(started[finished.size()].wait());
  return finished;
}

}  // namespace tidemark::cli
