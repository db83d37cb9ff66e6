// The worker processes, from the side of the server's one thread.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "answers/data.h"
#include "frames.h"
#include "server_limits.h"

struct event_base;
struct bufferevent;
struct event;

namespace tidemark::serve {

enum class End { answered, out_of_time, died };

struct Job {
  std::string topic, question;
  /// Called once.
  std::function<void(End, Outcome, std::string answer)> done;
  bool asked_again = false;  // since the first worker that was asked has ended
};

/// Neither copied nor moved; `base` and `data` must outlive it.
class Workers {
 public:
  Workers(event_base* base, const answers::Data& data, const Limits& limits);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Whether there was room for it.
  bool take(Job job);

  std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size()); }
  std::int64_t working() const;
  std::int64_t restarted() const { return restarted_; }
  std::vector<pid_t> pids() const;

 private:
  struct Worker;

  void start(Worker& worker);
  int stop(Worker& worker);  // the status that it ended with
  void begin(Worker& worker, Job job);
  void read(Worker& worker);
  void finish(Worker& worker, End end, Outcome outcome, std::string answer);
  void restart(Worker& worker, End end);

  event_base* base_;
  const answers::Data& data_;
  Limits limits_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<Job> waiting_;
  std::int64_t restarted_ = 0;
};

}  // namespace tidemark::serve
