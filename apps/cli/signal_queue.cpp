#include "signal_queue.h"

#include <poll.h>
#include <unistd.h>

namespace tidemark::cli {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalQueue::SignalQueue() {
  const sigset_t watched = watched_signals();
  ::sigprocmask(SIG_BLOCK, &watched, &before_);
  descriptor_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalQueue::~SignalQueue() {
  ::close(descriptor_);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void SignalQueue::wait(int milliseconds) {
  pollfd waiting{descriptor_, POLLIN, 0};
  ::poll(&waiting, 1, milliseconds);
}

int SignalQueue::pass_on(const std::vector<pid_t>& children) {
  int asked = 0;
  signalfd_siginfo info{};
  while (::read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    asked = signal;
    // What the terminal sends (Ctrl-C), it sends to the children as well.
    if (info.ssi_code == SI_KERNEL) continue;
    for (const pid_t child : children) ::kill(child, signal);
  }
  return asked;
}

}  // namespace tidemark::cli
