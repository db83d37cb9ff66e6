#include "descendants.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace tidemark::cli {
namespace {

struct ProcessState {
  pid_t parent = 0;
  bool is_zombie = false;
};

// "pid (name) state ppid …": the name may hold spaces and parentheses, so the last ')' counts.
ProcessState read_state(const std::filesystem::path& proc_folder) {
  std::ifstream file(proc_folder / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t close = line.rfind(')');
  if (close == std::string::npos || close + 4 > line.size()) return {};
  return {static_cast<pid_t>(std::atoi(line.c_str() + close + 4)), line[close + 2] == 'Z'};
}

std::map<pid_t, ProcessState> all_processes() {
  std::map<pid_t, ProcessState> result;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (!std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    result[static_cast<pid_t>(std::atoi(name.c_str()))] = read_state(entry.path());
  }
  return result;
}

void reap_all() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

void signal_all(const std::vector<pid_t>& processes, int signal) {
  for (pid_t process : processes) ::kill(process, signal);
}

// True once nothing is left.
bool wait_until_gone(int milliseconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (true) {
    reap_all();
    if (descendants_of(::getpid()).empty()) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> descendants_of(pid_t root) {
  const auto processes = all_processes();
  std::vector<pid_t> found, frontier{root};
  while (!frontier.empty()) {
    const pid_t parent = frontier.back();
    frontier.pop_back();
    for (const auto& [pid, state] : processes) {
      if (state.parent != parent) continue;
      frontier.push_back(pid);
      if (!state.is_zombie) found.push_back(pid);
    }
  }
  return found;
}

void end_descendants(int grace_ms) {
  reap_all();
  auto left = descendants_of(::getpid());
  if (left.empty()) return;
  signal_all(left, SIGTERM);
  if (wait_until_gone(grace_ms)) return;
  // A process that forks while it is being killed is caught in the next round.
  for (int round = 0; round < 50; ++round) {
    signal_all(descendants_of(::getpid()), SIGKILL);
    if (wait_until_gone(100)) return;
  }
}

}  // namespace tidemark::cli
