#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace tidemark::cli {
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

namespace {

/// Starts `command` with these descriptors, in `folder` unless that is empty.
pid_t spawn(const std::vector<std::string>& command, const Environment& environment, std::array<int, 3> descriptors,
            const std::string& folder = {}) {
  std::vector<std::string> arguments = command, variables = environment.strings();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int standard = 0; standard < 3; ++standard)
    if (descriptors[standard] >= 0)
      posix_spawn_file_actions_adddup2(&actions, descriptors[standard], standard);
    else
      posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, command[0].c_str(), &actions, nullptr, pointers_to(arguments).data(),
                                  pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error) throw Error(Errc::io, "cannot be started: " + std::generic_category().message(error), command[0]);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

struct Helper {
  CaptureFile output, errors;
  pid_t pid;

  Helper(const std::vector<std::string>& command, const Environment& environment, const std::string& folder = {})
      : pid(spawn(command, environment, {-1, output.descriptor(), errors.descriptor()}, folder)) {}

  Finished wait() { return {exit_code_of(wait_for(pid)), output.text(), errors.text()}; }
};

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string reason_in(std::string errors) {
  while (!errors.empty() && errors.back() == '\n') errors.pop_back();
  errors.erase(0, errors.rfind('\n') + 1);
  constexpr std::string_view kOurs = "tidemark: ";
  if (errors.starts_with(kOurs)) errors.erase(0, kOurs.size());
  return errors.empty() ? "it said nothing" : errors;
}

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

// One socket is its input and its output: writing to one whose other end has gone is no signal.
struct Conversation::Process {
  CaptureFile errors;
  int ours = -1;
  pid_t pid = -1;
  std::string read;  // and not answered yet

  Process(const std::vector<std::string>& command, const Environment& environment) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw Error(Errc::io, std::generic_category().message(errno), "socketpair");
    ours = ends[0];
    try {
      pid = spawn(command, environment, {ends[1], ends[1], errors.descriptor()});
    } catch (const Error&) {
      ::close(ends[0]);
      ::close(ends[1]);
      throw;
    }
    ::close(ends[1]);
  }
  ~Process() {
    ::close(ours);
    wait_for(pid);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool say(std::string_view text) const {
    while (!text.empty()) {
      const ::ssize_t sent = ::send(ours, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) return false;
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
};

Conversation::Conversation(const std::vector<std::string>& command, const Environment& environment)
    : process_(std::make_unique<Process>(command, environment)) {}

Conversation::~Conversation() = default;

std::string Conversation::errors() const { return process_->errors.text(); }

std::optional<std::string> Conversation::answer(const std::string& line) {
  if (!line.empty() && !process_->say(line + "\n")) return std::nullopt;
  std::string& read = process_->read;
  std::size_t end = 0;
  while ((end = read.find('\n')) == std::string::npos) {
    char buffer[512];
    const ::ssize_t got = ::recv(process_->ours, buffer, sizeof buffer, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) return std::nullopt;
    if (got > 0) read.append(buffer, static_cast<std::size_t>(got));
  }
  std::string answer = read.substr(0, end);
  read.erase(0, end + 1);
  return answer;
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
