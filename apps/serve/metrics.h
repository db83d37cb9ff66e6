// What a server has done, for Prometheus.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "workers.h"

namespace tidemark::serve {

class Metrics {
 public:
  void count(const std::string& topic, int status, double seconds);
  /// The text that is scraped (text/plain; version=0.0.4).
  std::string text(const Workers& workers) const;

 private:
  static constexpr std::array<double, 12> kBounds{0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 30};
  struct Times {
    std::array<std::int64_t, kBounds.size()> within{};  // each bound
    std::int64_t all = 0;
    double seconds = 0;
  };

  std::map<std::pair<std::string, int>, std::int64_t> requests_;
  std::map<std::string, Times> times_;
};

/// Of a process, in bytes; 0 where it has gone.
std::int64_t resident_bytes(pid_t pid);

}  // namespace tidemark::serve
