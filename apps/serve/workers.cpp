#include "workers.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "worker.h"

namespace tidemark::serve {

struct Workers::Worker {
  Workers* all = nullptr;
  pid_t pid = 0;
  bufferevent* channel = nullptr;
  event* clock = nullptr;
  std::optional<Job> job;
};

Workers::Workers(event_base* base, const answers::Data& data, const Limits& limits)
    : base_(base), data_(data), limits_(limits) {
  for (std::int64_t i = 0; i < limits.workers; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->all = this;
    worker->clock = evtimer_new(
        base_,
        [](evutil_socket_t, short, void* self) {
          auto& one = *static_cast<Worker*>(self);
          one.all->restart(one, End::out_of_time);
        },
        worker.get());
    start(*worker);
    workers_.push_back(std::move(worker));
  }
}

Workers::~Workers() {
  for (const auto& worker : workers_) {
    stop(*worker);
    event_free(worker->clock);
  }
}

void Workers::start(Worker& worker) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(Errc::io, "cannot make a pair of sockets: " + std::generic_category().message(errno));
  worker.pid = ::fork();
  if (worker.pid < 0) throw Error(Errc::io, "cannot start a worker: " + std::generic_category().message(errno));
  if (worker.pid == 0) work(ends[1], data_, limits_);
  ::close(ends[1]);
  evutil_make_socket_nonblocking(ends[0]);
  worker.channel = bufferevent_socket_new(base_, ends[0], BEV_OPT_CLOSE_ON_FREE);
  bufferevent_setcb(
      worker.channel,
      [](bufferevent*, void* self) {
        auto& one = *static_cast<Worker*>(self);
        one.all->read(one);
      },
      nullptr,
      [](bufferevent*, short, void* self) {
        auto& one = *static_cast<Worker*>(self);
        one.all->restart(one, End::died);
      },
      &worker);
  bufferevent_enable(worker.channel, EV_READ | EV_WRITE);
}

int Workers::stop(Worker& worker) {
  bufferevent_free(worker.channel);
  ::kill(worker.pid, SIGKILL);  // which changes nothing about how one has ended
  int status = 0;
  ::waitpid(worker.pid, &status, 0);
  return status;
}

void Workers::restart(Worker& worker, End end) {
  const int status = stop(worker);
  start(worker);
  ++restarted_;
  const bool had_no_memory = end == End::died && WIFEXITED(status) && WEXITSTATUS(status) == kNoMemoryExit;
  const bool is_worth_another = end == End::died && !had_no_memory && worker.job && !worker.job->asked_again;
  if (is_worth_another) {  // who knows whether it had died before it was asked; a question that ends two is to blame
    Job job = std::move(*worker.job);
    job.asked_again = true;
    return begin(worker, std::move(job));
  }
  finish(worker, had_no_memory ? End::answered : end, had_no_memory ? Outcome::out_of_memory : Outcome::bug, {});
}

bool Workers::take(Job job) {
  for (const auto& worker : workers_)
    if (!worker->job) {
      begin(*worker, std::move(job));
      return true;
    }
  if (waiting() >= limits_.waiting) return false;
  waiting_.push_back(std::move(job));
  return true;
}

void Workers::begin(Worker& worker, Job job) {
  const AskedFrame frame{static_cast<std::uint32_t>(job.topic.size()), static_cast<std::uint32_t>(job.question.size())};
  bufferevent_write(worker.channel, &frame, sizeof frame);
  bufferevent_write(worker.channel, job.topic.data(), job.topic.size());
  bufferevent_write(worker.channel, job.question.data(), job.question.size());
  worker.job = std::move(job);
  const timeval limit{.tv_sec = limits_.answer_seconds, .tv_usec = 0};
  evtimer_add(worker.clock, &limit);
}

void Workers::read(Worker& worker) {
  evbuffer* input = bufferevent_get_input(worker.channel);
  AnswerFrame frame;
  if (evbuffer_copyout(input, &frame, sizeof frame) < static_cast<ev_ssize_t>(sizeof frame)) return;
  if (evbuffer_get_length(input) < sizeof frame + frame.answer_bytes) return;
  evbuffer_drain(input, sizeof frame);
  std::string answer(frame.answer_bytes, '\0');
  evbuffer_remove(input, answer.data(), answer.size());
  finish(worker, End::answered, frame.outcome, std::move(answer));
}

void Workers::finish(Worker& worker, End end, Outcome outcome, std::string answer) {
  evtimer_del(worker.clock);
  const std::optional<Job> job = std::exchange(worker.job, std::nullopt);
  if (!waiting_.empty()) {
    Job next = std::move(waiting_.front());
    waiting_.pop_front();
    begin(worker, std::move(next));
  }
  if (job) job->done(end, outcome, std::move(answer));
}

std::int64_t Workers::working() const {
  std::int64_t count = 0;
  for (const auto& worker : workers_) count += worker->job ? 1 : 0;
  return count;
}

std::vector<pid_t> Workers::pids() const {
  std::vector<pid_t> all;
  for (const auto& worker : workers_) all.push_back(worker->pid);
  return all;
}

}  // namespace tidemark::serve
