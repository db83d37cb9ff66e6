#include "worker.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "answers/topics.h"
#include "frames.h"

namespace tidemark::serve {
namespace {

/// Of clients, above all: a connection ends when the last who has it lets go.
void close_all_but(int kept) {
  std::vector<int> open;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder)) open.push_back(std::atoi(entry->d_name));
    ::closedir(folder);
  }
  for (const int one : open)
    if (one > STDERR_FILENO && one != kept) ::close(one);
}

void limit(decltype(RLIMIT_AS) what, rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(what, &both);
}

bool read_all(int socket, void* into, std::size_t bytes) {
  for (char* at = static_cast<char*>(into); bytes > 0;) {
    const ssize_t got = ::recv(socket, at, bytes, 0);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int socket, const void* from, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(from); bytes > 0;) {
    const ssize_t put = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (put <= 0) return false;
    at += put;
    bytes -= static_cast<std::size_t>(put);
  }
  return true;
}

/// Memory may end where nothing may be thrown any more.
[[noreturn]] void end_of_worker() {
  try {
    if (const std::exception_ptr what = std::current_exception()) std::rethrow_exception(what);
  } catch (const std::bad_alloc&) {
    ::_exit(kNoMemoryExit);
  } catch (...) {
  }
  std::abort();
}

Outcome outcome_of(const answers::Answer& answer) {
  if (answer.is_bug) return Outcome::bug;
  if (!answer.error) return Outcome::good;
  return *answer.error == Errc::unsupported ? Outcome::unsupported : Outcome::wrong;
}

bool send_answer(int socket, Outcome outcome, const std::string& text) {
  const AnswerFrame frame{outcome, static_cast<std::uint32_t>(text.size())};
  return write_all(socket, &frame, sizeof frame) && write_all(socket, text.data(), text.size());
}

bool answer_one(int socket, const answers::Data& data) {
  AskedFrame frame;
  if (!read_all(socket, &frame, sizeof frame)) return false;
  std::string topic(frame.topic_bytes, '\0'), question(frame.question_bytes, '\0');
  if (!read_all(socket, topic.data(), topic.size()) || !read_all(socket, question.data(), question.size()))
    return false;
  try {
    const answers::Answer answer = answers::answer(topic, question, data);
    return send_answer(socket, outcome_of(answer), answer.text);
  } catch (const std::bad_alloc&) {
    return send_answer(socket, Outcome::out_of_memory, {});
  }
}

}  // namespace

void work(int socket, const answers::Data& data, const Limits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN),
      ::signal(SIGTERM, SIG_DFL);  // a terminal's interrupt is the server's, which lets answers finish
  close_all_but(socket);
  limit(RLIMIT_NOFILE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, static_cast<rlim_t>(limits.worker_bytes));
  std::set_terminate(end_of_worker);
  while (answer_one(socket, data)) {
  }
  ::_exit(0);
}

}  // namespace tidemark::serve
