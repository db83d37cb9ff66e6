#include "child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "descendants.h"
#include "host_memory.h"
#include "live_line.h"
#include "process.h"
#include "signal_queue.h"

namespace tidemark::cli {
namespace {

constexpr int kProgressMs = 200;  // 5 Hz
constexpr int kHostMemoryMs = 500, kHostMemoryNearItsEndMs = 50;
constexpr int kStillSeconds = 2;       // a line that stands for longer counts them, as a sign of life
constexpr int kGraceMs = 2000;         // for processes left behind, between SIGTERM and SIGKILL
constexpr int kServerGraceMs = 15000;  // for a server, which ends its workers and removes what they share

class ProgressLine {
 public:
  ProgressLine(const std::filesystem::path& file, bool shown) : file_(file), shown_(shown) {}

  void say(const std::string& message) {
    live_.clear();
    fmt::print(stderr, "tidemark: {}\n", message);
  }
  void update() {
    if (!shown_) return;
    std::ifstream file(file_);
    std::string line;
    if (!std::getline(file, line)) return;
    const auto now = std::chrono::steady_clock::now();
    if (line != line_) line_ = line, since_ = now;
    const auto stands_for = std::chrono::duration_cast<std::chrono::seconds>(now - since_).count();
    if (!line.empty() && stands_for >= kStillSeconds) line += fmt::format("  {} s", stands_for);
    live_.show(std::move(line));
  }

 private:
  std::filesystem::path file_;
  bool shown_;
  std::string line_;  // in the file
  LiveLine live_;
  std::chrono::steady_clock::time_point since_;
};

// What is left to do takes milliseconds and must not be cut short: a report to write, a folder to remove.
void ignore_further_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
}

// Waits for `child` and reaps whatever else ends meanwhile.  True once the child has ended.
bool reap(pid_t child, int& status) {
  bool ended = false;
  int one = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &one, WNOHANG)) > 0;)
    if (pid == child) ended = true, status = one;
  return ended;
}

bool is_there(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::exists(file, error);
}

// At once: what is asked to end in its own time may take the rest meanwhile.  Returns why, or nothing.
std::string end_for_want_of_memory(const HostMemoryWatch& host_memory) {
  const std::vector<pid_t> processes = descendants_of(::getpid());
  const auto why = host_memory.shortage(processes);
  if (why)
    for (const pid_t process : processes) ::kill(process, SIGKILL);
  return why.value_or("");
}

}  // namespace

pid_t start_child(const std::string& program, const std::vector<std::string>& command, const Environment& environment,
                  const sigset_t& mask, const std::filesystem::path& output, const char* input) {
  std::vector<std::string> arguments = command, variables = environment.strings();
  const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(variables);
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) throw Error(Errc::io, std::generic_category().message(errno), "fork");
  if (pid > 0) return pid;
  // Only async-signal-safe calls from here.  Should we be killed outright, the program ends as well.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGXFSZ, SIG_DFL);
  if (input) {
    const int file = ::open(input, O_RDONLY);
    if (file < 0 || ::dup2(file, STDIN_FILENO) < 0) ::_exit(126);
  }
  if (!output.empty()) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0 || ::dup2(file, STDERR_FILENO) < 0) ::_exit(126);
  }
  ::execve(program.c_str(), argv.data(), envp.data());
  // A script without a #! line: what a shell does then is to run it itself.
  ::_exit(errno == ENOENT ? 127 : 126);
}

ChildResult run_child(const std::string& program, const std::vector<std::string>& command,
                      const Environment& environment, const std::filesystem::path& run_folder, bool show_progress,
                      const std::filesystem::path& output, std::optional<std::int64_t> host_memory_bytes) {
  adopt_orphans();
  SignalQueue signals;
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = start_child(program, command, environment, signals.mask_before(), output);
  HostMemoryWatch host_memory(host_memory_bytes);
  int status = 0;
  std::string ended_by_us;
  bool served = false;
  {
    ProgressLine progress(run_folder / "progress", show_progress);
    while (!reap(child, status) && !(served = is_there(run_folder / "served"))) {
      const bool near_its_end = host_memory.is_near_its_end();
      signals.wait(near_its_end ? kHostMemoryNearItsEndMs : show_progress ? kProgressMs : kHostMemoryMs);
      signals.pass_on({child});
      if (near_its_end && ended_by_us.empty()) ended_by_us = end_for_want_of_memory(host_memory);
      if (const auto warning = host_memory.warning()) progress.say(*warning);
      progress.update();
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  end_descendants(served ? kServerGraceMs : kGraceMs);
  ignore_further_signals();
  struct rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return {exit_code_of(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          elapsed.count(),      usage.ru_maxrss * 1024LL,
          ended_by_us,          host_memory.has_seen_a_kill()};
}

}  // namespace tidemark::cli
