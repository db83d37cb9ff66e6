// Signals that are read in a loop instead of being handled at any moment.
#pragma once
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <vector>

namespace tidemark::cli {

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD wait in it.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// What a child's mask has to be.
  const sigset_t& mask_before() const { return before_; }
  void wait(int milliseconds);
  /// Passes on to `children` what has come, and returns the last of it that asks to end, or 0.
  int pass_on(const std::vector<pid_t>& children);

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace tidemark::cli
