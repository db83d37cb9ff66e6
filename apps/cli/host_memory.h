// The host's own memory while a program runs: said before it is used up, and whether the kernel has killed for it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tidemark::cli {

/// What is left of the host's memory, or of what this process's control group may use, where that is less.
struct HostMemory {
  std::int64_t available_bytes = 0, total_bytes = 0;
};

class HostMemoryWatch {
 public:
  /// `proc` and `groups` are where the kernel shows itself and control groups (version 2).
  explicit HostMemoryWatch(const std::filesystem::path& proc = "/proc",
                           const std::filesystem::path& groups = "/sys/fs/cgroup");

  /// Nothing where the kernel does not say.
  std::optional<HostMemory> now() const;
  /// What to say when memory has become short, the first time that it has.
  std::optional<std::string> warning();
  /// Whether the kernel has killed a process for want of memory since the watch began.
  bool has_seen_a_kill() const;

 private:
  std::int64_t kills() const;

  std::filesystem::path proc_, group_;
  std::int64_t kills_before_ = 0;
  bool warned_ = false;
};

}  // namespace tidemark::cli
