#include "host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/bytes.h"

namespace tidemark::cli {
namespace {

constexpr std::int64_t kShortShare = 16;  // short: less than a sixteenth is left

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

// "0::/path" is the control group of version 2.
std::filesystem::path own_group(const std::filesystem::path& proc, const std::filesystem::path& groups) {
  std::ifstream stream(proc / "self" / "cgroup");
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("0::/")) return groups / line.substr(4);
  return groups;
}

}  // namespace

HostMemoryWatch::HostMemoryWatch(const std::filesystem::path& proc, const std::filesystem::path& groups)
    : proc_(proc), group_(own_group(proc, groups)), kills_before_(kills()) {}

std::optional<HostMemory> HostMemoryWatch::now() const {
  const auto total = number_in(proc_ / "meminfo", "MemTotal:"), available = number_in(proc_ / "meminfo", "MemAvailable:");
  if (!total || !available) return std::nullopt;
  HostMemory memory{*available * 1024, *total * 1024};
  const auto limit = number_of(group_ / "memory.max"), used = number_of(group_ / "memory.current");
  if (limit && used) {
    // Pages of files are given back when they are asked for, as MemAvailable has it.
    const std::int64_t files = number_in(group_ / "memory.stat", "inactive_file").value_or(0);
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

std::int64_t HostMemoryWatch::kills() const {
  if (const auto of_group = number_in(group_ / "memory.events", "oom_kill")) return *of_group;
  return number_in(proc_ / "vmstat", "oom_kill").value_or(0);
}

bool HostMemoryWatch::has_seen_a_kill() const { return kills() > kills_before_; }

}  // namespace tidemark::cli
