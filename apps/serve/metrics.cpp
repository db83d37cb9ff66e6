#include "metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace tidemark::serve {

void Metrics::count(const std::string& topic, int status, double seconds) {
  ++requests_[{topic, status}];
  Times& times = times_[topic];
  for (std::size_t i = 0; i < kBounds.size(); ++i) times.within[i] += seconds <= kBounds[i] ? 1 : 0;
  ++times.all;
  times.seconds += seconds;
}

std::string Metrics::text(const Workers& workers) const {
  std::string text =
      "# HELP tidemark_requests_total Requests that were answered.\n# TYPE tidemark_requests_total counter\n";
  for (const auto& [key, count] : requests_)
    text += fmt::format("tidemark_requests_total{{topic=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  text +=
      "# HELP tidemark_request_seconds From a question's last byte to its answer.\n# TYPE tidemark_request_seconds histogram\n";
  for (const auto& [topic, times] : times_) {
    for (std::size_t i = 0; i < kBounds.size(); ++i)
      text += fmt::format("tidemark_request_seconds_bucket{{topic=\"{}\",le=\"{}\"}} {}\n", topic, kBounds[i],
                          times.within[i]);
    text += fmt::format("tidemark_request_seconds_bucket{{topic=\"{}\",le=\"+Inf\"}} {}\n", topic, times.all);
    text += fmt::format("tidemark_request_seconds_sum{{topic=\"{}\"}} {}\n", topic, times.seconds);
    text += fmt::format("tidemark_request_seconds_count{{topic=\"{}\"}} {}\n", topic, times.all);
  }
  const auto add = [&](const char* name, const char* type, const char* help, std::int64_t value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  };
  add("tidemark_working", "gauge", "Answers that are being computed.", workers.working());
  add("tidemark_waiting", "gauge", "Questions that wait for a worker.", workers.waiting());
  add("tidemark_workers_restarted_total", "counter", "Workers that were ended for time, or ended by themselves.",
      workers.restarted());
  std::int64_t of_workers = 0;
  for (const pid_t pid : workers.pids()) of_workers += resident_bytes(pid);
  add("tidemark_resident_bytes", "gauge", "Memory of the server.", resident_bytes(::getpid()));
  add("tidemark_workers_resident_bytes", "gauge", "Memory of all workers, what they share with the server included.",
      of_workers);
  return text;
}

std::int64_t resident_bytes(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace tidemark::serve
