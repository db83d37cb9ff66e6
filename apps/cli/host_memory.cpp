#include "host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/bytes.h"

namespace tidemark::cli {
namespace {

constexpr std::int64_t kNearShare = 8, kShortShare = 16, kEndShare = 32;  // less than an eighth is left, and so on

// The number after `name` in a file of the kernel's with a name and a number per line.
std::optional<std::int64_t> number_in(const std::filesystem::path& file, const std::string& name) {
  std::ifstream stream(file);
  std::string word;
  std::int64_t number = 0;
  for (std::string line; stream >> word;) {
    if (word == name && stream >> number) return number;
    stream.clear();
    std::getline(stream, line);
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;  // "max" is no limit
}

// "0::/path" is the control group of version 2, "5:memory:/path" that of version 1.  Within a container the path may be
// that of the world outside.
MemoryGroup own_group(const std::filesystem::path& proc, const std::filesystem::path& groups) {
  std::ifstream stream(proc / "self" / "cgroup");
  MemoryGroup second{groups, "memory.max", "memory.current", "inactive_file", "memory.events"};
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("0::/")) second.folder = groups / line.substr(4);
    const std::size_t at = line.find(":memory:/");
    if (at == std::string::npos) continue;
    const std::filesystem::path group = groups / "memory" / line.substr(at + 9);
    std::error_code error;
    return {std::filesystem::exists(group, error) ? group : groups / "memory", "memory.limit_in_bytes",
            "memory.usage_in_bytes", "total_inactive_file", "memory.oom_control"};
  }
  return second;
}

}  // namespace

HostMemoryWatch::HostMemoryWatch(std::optional<std::int64_t> allowed_bytes, const std::filesystem::path& proc,
                                 const std::filesystem::path& groups)
    : allowed_bytes_(allowed_bytes), proc_(proc), group_(own_group(proc, groups)), kills_before_(kills()) {}

std::optional<HostMemory> HostMemoryWatch::now() const {
  const auto total = number_in(proc_ / "meminfo", "MemTotal:"),
             available = number_in(proc_ / "meminfo", "MemAvailable:");
  if (!total || !available) return std::nullopt;
  HostMemory memory{*available * 1024, *total * 1024};
  const auto limit = number_of(group_.folder / group_.limit), used = number_of(group_.folder / group_.used);
  if (limit && used) {
    // Pages of files are given back when they are asked for, as MemAvailable has it.
    const std::int64_t files = number_in(group_.folder / "memory.stat", group_.inactive_files).value_or(0);
    memory.available_bytes = std::min(memory.available_bytes, *limit - *used + files);
    memory.total_bytes = std::min(memory.total_bytes, *limit);
  }
  return memory;
}

std::optional<std::string> HostMemoryWatch::warning() {
  if (warned_) return std::nullopt;
  const auto memory = now();
  if (!memory || memory->available_bytes >= memory->total_bytes / kShortShare) return std::nullopt;
  warned_ = true;
  return fmt::format(
      "the host's memory runs short: {} of {} are left, and what the program itself computes or keeps on the host is "
      "real; when nothing is left the kernel kills it",
      format_bytes(std::max<std::int64_t>(memory->available_bytes, 0)), format_bytes(memory->total_bytes));
}

bool HostMemoryWatch::is_near_its_end() const {
  if (allowed_bytes_) return true;
  const auto memory = now();
  return memory && memory->available_bytes < memory->total_bytes / kNearShare;
}

/// Pages of no file: those of files are given back when they are wanted.  What a process shares with those that it
/// forked is shared out among them only where it matters, since for that the kernel looks at every page.
std::int64_t HostMemoryWatch::held_bytes(const std::vector<pid_t>& processes) const {
  const auto sum = [&](const char* file, const char* anonymous, const char* shared) {
    std::int64_t kib = 0;
    for (const pid_t pid : processes) {
      const std::filesystem::path path = proc_ / std::to_string(pid) / file;
      kib += number_in(path, anonymous).value_or(0) + number_in(path, shared).value_or(0);
    }
    return kib * 1024;
  };
  const std::int64_t at_most = sum("status", "RssAnon:", "RssShmem:");
  if (allowed_bytes_ && at_most <= *allowed_bytes_) return at_most;
  const std::int64_t shared_out = sum("smaps_rollup", "Pss_Anon:", "Pss_Shmem:");
  return shared_out > 0 ? shared_out : at_most;
}

std::optional<std::string> HostMemoryWatch::shortage(const std::vector<pid_t>& processes) const {
  constexpr const char* kWhatTakesIt =
      "host tensors that nobody writes take none, and what the program computes, reads or keeps there does";
  if (allowed_bytes_) {
    const std::int64_t held = held_bytes(processes);
    if (held > *allowed_bytes_)
      return fmt::format(
          "the program was ended: it asked for {} of the host's memory, and --host-memory allows {} ({})",
          format_bytes(held), format_bytes(*allowed_bytes_), kWhatTakesIt);
  }
  const auto memory = now();
  if (!memory || memory->available_bytes >= memory->total_bytes / kEndShare) return std::nullopt;
  const std::int64_t held = held_bytes(processes);
  if (held < memory->total_bytes / kShortShare) return std::nullopt;  // others took it
  return fmt::format(
      "the program was ended before the host's memory was used up: it asked for {}, and {} of {} are left ({})",
      format_bytes(held), format_bytes(std::max<std::int64_t>(memory->available_bytes, 0)),
      format_bytes(memory->total_bytes), kWhatTakesIt);
}

std::int64_t HostMemoryWatch::kills() const {
  if (const auto of_group = number_in(group_.folder / group_.events, "oom_kill")) return *of_group;
  return number_in(proc_ / "vmstat", "oom_kill").value_or(0);
}

bool HostMemoryWatch::has_seen_a_kill() const { return kills() > kills_before_; }

}  // namespace tidemark::cli
