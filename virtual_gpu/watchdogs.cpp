#include "watchdogs.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device_clock.h"

namespace tidemark {
namespace {

constexpr Nanoseconds kLooksEvery = 100'000'000;  // kWatchdogThreadSleepMillis
constexpr std::chrono::seconds kWaitsAtMost{2};   // real time, for a watchdog that may not exist
constexpr std::chrono::microseconds kBetweenLooks{200};
constexpr int kDisappointments = 3;        // … after which it is taken not to
constexpr int kQuestionsInVain = 100'000;  // questions while nothing moves: then everybody waits for the watchdog

enum class State { pending, shown, told };
struct End {
  State state = State::pending;
  Nanoseconds done_at = -1;
};  // when it was first found done

class Watchdogs {
 public:
  void collective(const void* stream) {
    const std::lock_guard lock(mutex_);
    collective_on_.insert(stream);
  }

  void recorded(const void* event, const void* stream) {
    const std::lock_guard lock(mutex_);
    if (collective_on_.erase(stream))
      ends_[event] = {};
    else
      ends_.erase(event);
  }

  void destroyed(const void* event) {
    const std::lock_guard lock(mutex_);
    if (ends_.erase(event)) told_.notify_all();
  }

  bool ask(const void* event) {
    const std::lock_guard lock(mutex_);
    threads_.insert(static_cast<int>(syscall(SYS_gettid)));
    const auto end = ends_.find(event);
    if (end == ends_.end()) return device_clock().event_is_done(event);
    if (end->second.state == State::pending && !nothing_moves()) return false;
    end->second.state = State::told;
    told_.notify_all();
    return true;
  }

  /// Lets them see what had completed by `host_time`, all if the program is over, and waits until they have.
  void look(Nanoseconds host_time, bool all) {
    std::unique_lock lock(mutex_);
    if (disappointments_ >= kDisappointments) return;
    std::vector<const void*> shown;
    for (auto& [event, end] : ends_)
      if (end.state == State::pending && (all || has_been_done(event, end, host_time))) {
        end.state = State::shown;
        shown.push_back(event);
      }
    if (shown.empty()) return;
    const auto seen = [&] {
      for (const void* event : shown)
        if (const auto end = ends_.find(event); end != ends_.end() && end->second.state == State::shown) return false;
      return true;
    };
    if (!told_.wait_for(lock, kWaitsAtMost, seen)) ++disappointments_;
    const std::set<int> threads = threads_;
    lock.unlock();
    for (const int thread : threads) wait_until_asleep(thread);  // they have done what follows from the answers
  }

  bool is_time(Nanoseconds host_time) {
    if (device_clock().order() == EventOrder::late) return true;
    const std::lock_guard lock(mutex_);
    const Nanoseconds turn = host_time / kLooksEvery;
    if (turn == turn_) return false;
    turn_ = turn;
    return true;
  }

 private:
  static bool has_been_done(const void* event, End& end, Nanoseconds host_time) {
    if (!device_clock().event_is_done(event)) return false;
    if (end.done_at < 0) end.done_at = host_time;
    return device_clock().order() != EventOrder::late || host_time >= end.done_at + kLooksEvery;
  }

  bool nothing_moves() {
    const Nanoseconds time = device_clock().host_time();
    in_vain_ = time == looked_at_ ? in_vain_ + 1 : 0;
    looked_at_ = time;
    return in_vain_ > kQuestionsInVain;
  }

  static void wait_until_asleep(int thread) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    const auto until = std::chrono::steady_clock::now() + kWaitsAtMost;
    while (std::chrono::steady_clock::now() < until) {
      std::FILE* file = std::fopen(path, "r");
      if (!file) return;
      char text[128] = "";
      const std::size_t bytes = std::fread(text, 1, sizeof text - 1, file);
      std::fclose(file);
      text[bytes] = '\0';
      const char* state = std::strrchr(text, ')');  // "pid (name) S …", proc(5)
      if (state && std::strncmp(state, ") S", 3) == 0) return;
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  std::mutex mutex_;
  std::condition_variable told_;
  std::unordered_set<const void*> collective_on_;
  std::unordered_map<const void*, End> ends_;
  std::set<int> threads_;
  Nanoseconds turn_ = 0, looked_at_ = 0;
  int in_vain_ = 0, disappointments_ = 0;
};

Watchdogs& watchdogs() {
  static auto* all = new Watchdogs;
  return *all;
}

}  // namespace

bool this_thread_watches() {
  static thread_local const bool watches = [] {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return std::strncmp(name, "pt_nccl_", 8) == 0;
  }();
  return watches;
}

bool watchdog_sees(const void* event) { return watchdogs().ask(event); }

void before_collective(const void* stream) {
  const Nanoseconds now = device_clock().host_time();
  if (watchdogs().is_time(now)) watchdogs().look(now, false);
  watchdogs().collective(stream);
}

void event_was_recorded(const void* event, const void* stream) { watchdogs().recorded(event, stream); }
void event_was_destroyed(const void* event) { watchdogs().destroyed(event); }

}  // namespace tidemark

void tidemark_let_watchdogs_finish() { tidemark::watchdogs().look(0, true); }
