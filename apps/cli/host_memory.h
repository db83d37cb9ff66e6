// The host's own memory while a program runs: said before it is used up, and whether the kernel has killed for it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::cli {

/// What is left of the host's memory, or of what this process's control group may use, where that is less.
struct HostMemory {
  std::int64_t available_bytes = 0, total_bytes = 0;
};

/// A control group, and how its version calls what it says of memory.
struct MemoryGroup {
  std::filesystem::path folder;
  const char *limit, *used;    // files with a number
  const char* inactive_files;  // in memory.stat
  const char* events;          // a file that counts kills
};

class HostMemoryWatch {
 public:
  /// `allowed_bytes`: what the program may hold, where the user says so.  `proc` and `groups` are where the kernel
  /// shows itself and control groups (version 2, or the folder `memory` of version 1).
  explicit HostMemoryWatch(std::optional<std::int64_t> allowed_bytes = {}, const std::filesystem::path& proc = "/proc",
                           const std::filesystem::path& groups = "/sys/fs/cgroup");

  /// Nothing where the kernel does not say.
  std::optional<HostMemory> now() const;
  /// What to say when memory has become short, the first time that it has.
  std::optional<std::string> warning();
  /// Whether it is worth asking for a shortage often, which is to look at every process.
  bool is_near_its_end() const;
  /// Why the program has to end now, before the kernel kills one of its `processes`; nothing if it has not.
  std::optional<std::string> shortage(const std::vector<pid_t>& processes) const;
  /// Whether the kernel has killed a process for want of memory since the watch began.
  bool has_seen_a_kill() const;

 private:
  std::int64_t kills() const;
  std::int64_t held_bytes(const std::vector<pid_t>& processes) const;

  std::optional<std::int64_t> allowed_bytes_;
  std::filesystem::path proc_;
  MemoryGroup group_;
  std::int64_t kills_before_ = 0;
  bool warned_ = false;
};

}  // namespace tidemark::cli
