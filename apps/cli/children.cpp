#include "children.h"

#include <sys/wait.h>

#include <cerrno>

#include "child.h"
#include "process.h"
#include "signal_queue.h"

namespace tidemark::cli {
namespace {

constexpr int kTickMs = 200;

/// Those that have ended since, taken from `running`; each with its place in it.
struct Ended {
  std::size_t index;
  int exit_code;
};

std::vector<Ended> take_ended(std::vector<pid_t>& running) {
  std::vector<Ended> ended;
  for (std::size_t i = 0; i < running.size(); ++i) {
    int status = 0;
    if (running[i] <= 0 || ::waitpid(running[i], &status, WNOHANG) != running[i]) continue;
    running[i] = 0;
    ended.push_back({i, exit_code_of(status)});
  }
  return ended;
}

std::vector<pid_t> alive(const std::vector<pid_t>& running) {
  std::vector<pid_t> pids;
  for (const pid_t pid : running)
    if (pid > 0) pids.push_back(pid);
  return pids;
}

}  // namespace

int run_children(const std::vector<ChildCommand>& commands, const Environment& environment,
                 const ChildrenWatch& watch) {
  SignalQueue signals;
  std::vector<pid_t> running;
  for (const ChildCommand& one : commands)
    running.push_back(
        start_child(one.command[0], one.command, environment, signals.mask_before(), one.output, "/dev/null"));
  int asked = 0;
  bool goes_on = true;
  while (!alive(running).empty()) {
    signals.wait(kTickMs);
    if (const int signal = signals.pass_on(alive(running))) asked = signal, goes_on = false;
    for (const Ended& one : take_ended(running)) {
      if (!goes_on || watch.on_end(one.index, one.exit_code)) continue;
      goes_on = false;
      for (const pid_t pid : alive(running)) ::kill(pid, SIGTERM);
    }
    watch.on_tick();
  }
  return asked;
}

}  // namespace tidemark::cli
