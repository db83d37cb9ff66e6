#include "nccl_messages.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

namespace tidemark {
namespace {

constexpr std::size_t kIdBytes = 32;  // of the 128: enough to be distinct

struct Agreements {
  std::mutex mutex;
  std::map<std::string, Group> by_id;
  std::optional<Group> next_split;
  std::map<std::string, long> sent, received;  // messages so far, by channel
};

Agreements& agreements() {
  static auto* all = new Agreements;
  return *all;
}

thread_local bool awaited = false;

/// TIDEMARK_MESSAGES/channel-number, with what a file name cannot hold replaced; empty if messages are not kept.
std::string file_of(const std::string& channel, std::map<std::string, long>& counts) {
  const char* folder = std::getenv("TIDEMARK_MESSAGES");
  if (!folder) return {};
  const std::lock_guard lock(agreements().mutex);
  std::string name = channel + "-" + std::to_string(counts[channel]++);
  for (char& c : name)
    if (c == '/' || c == ' ') c = '_';
  return std::string(folder) + "/" + name;
}

bool read_whole(const std::string& path, void* data, std::size_t bytes) {
  std::FILE* file = path.empty() ? nullptr : std::fopen(path.c_str(), "rb");
  if (!file) return false;
  const bool whole = std::fread(data, 1, bytes, file) == bytes && std::fgetc(file) == EOF;
  std::fclose(file);
  return whole;
}

std::atomic<void (*)()> before_leaving = nullptr;

[[noreturn]] void leave_until_sent(int from, const std::string& channel) {
  if (const char* folder = std::getenv("TIDEMARK_RUN_DIR")) {
    if (std::FILE* file = std::fopen((std::string(folder) + "/awaits").c_str(), "w")) {
      std::fprintf(file, "%d\n%s\n", from, channel.c_str());
      std::fclose(file);
    }
  }
  if (const auto clean_up = before_leaving.load()) clean_up();
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace

Group group_of_id(const char* id, int ranks) {
  const std::lock_guard lock(agreements().mutex);
  const auto known = agreements().by_id.find(std::string(id, kIdBytes));
  if (known != agreements().by_id.end() && known->second.ranks.size() == static_cast<std::size_t>(ranks))
    return known->second;
  Group group{"unnamed", std::vector<int>(static_cast<std::size_t>(ranks))};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

Group next_split(const Group& parent, int color) {
  const std::lock_guard lock(agreements().mutex);
  if (agreements().next_split) {
    Group group = std::move(*agreements().next_split);
    agreements().next_split.reset();
    return group;
  }
  return {parent.name + ".split" + std::to_string(color), parent.ranks};
}

void keep_message(const std::string& channel, const void* data, std::size_t bytes) {
  const std::string path = file_of(channel, agreements().sent);
  std::FILE* file = path.empty() ? nullptr : std::fopen((path + ".new").c_str(), "wb");
  if (!file) return;
  const bool whole = std::fwrite(data, 1, bytes, file) == bytes;
  if (std::fclose(file) == 0 && whole) std::rename((path + ".new").c_str(), path.c_str());
}

void take_message(const std::string& channel, void* data, std::size_t bytes, int from) {
  if (!read_whole(file_of(channel, agreements().received), data, bytes)) leave_until_sent(from, channel);
}

void pass_message(const std::string& channel, bool sends) {
  const std::lock_guard lock(agreements().mutex);
  ++(sends ? agreements().sent : agreements().received)[channel];
}

bool data_is_awaited() { return awaited; }

}  // namespace tidemark

using namespace tidemark;

void tidemark_name_communicator(const char* id, const char* name, const int* ranks, int count) {
  const std::lock_guard lock(agreements().mutex);
  agreements().by_id[std::string(id, kIdBytes)] = {name, {ranks, ranks + count}};
}
void tidemark_next_split(const char* name, const int* ranks, int count) {
  const std::lock_guard lock(agreements().mutex);
  agreements().next_split = {name, {ranks, ranks + count}};
}
bool tidemark_await_data(bool yes) {
  const bool before = awaited;
  awaited = yes;
  return before;
}
void tidemark_keep_message(const char* channel, const void* data, std::size_t bytes) {
  keep_message(channel, data, bytes);
}
void tidemark_take_message(const char* channel, void* data, std::size_t bytes, int from) {
  take_message(channel, data, bytes, from);
}
void tidemark_before_a_rank_leaves(void (*clean_up)()) { before_leaving = clean_up; }
