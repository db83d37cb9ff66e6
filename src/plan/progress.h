// How far a search has come, for whoever waits for it.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

namespace tidemark::plan {

inline constexpr std::array<std::string_view, 4> kStageNames{"order", "largest", "search", "least"};
/// Of the largest size: which ways come farthest, then how far.  Then the search; and where nothing fits, for what
/// would need least.
enum class Stage { order, largest, search, least };

struct Progress {
  Stage stage = Stage::search;
  std::size_t decided = 0, candidates = 0;  // of this stage; the first never falls, and is the second at the end
  std::int64_t simulated = 0;
  std::int64_t largest = 0;                            // that is known to fit; 0: none, or it is not asked for
  std::optional<double> step_seconds = {};             // of the best that fits so far
  std::optional<std::int64_t> peak_device_bytes = {};  // likewise
};

/// Called by several threads, by one at a time; what it throws ends the search.
using Told = std::function<void(const Progress&)>;

/// Passes on the first and the last of each stage, and of the others one in so many seconds.
Told told_each(double seconds, Told told);

/// Of one stage.  Without anybody to tell it does nothing.
class Teller {
 public:
  Teller(const Told& told, Stage stage, std::size_t candidates);

  void simulated() {
    change([](Progress& now) { ++now.simulated; });
  }
  void simulated_and_decided() {
    change([](Progress& now) { ++now.simulated, ++now.decided; });
  }
  void has_decided(std::size_t candidates) {
    change([=](Progress& now) { now.decided = std::max(now.decided, candidates); });
  }
  void has_best(double step_seconds, std::int64_t peak_device_bytes) {
    change([=](Progress& now) { now.step_seconds = step_seconds, now.peak_device_bytes = peak_device_bytes; });
  }
  void has_largest(std::int64_t size, std::int64_t simulations) {
    change([=](Progress& now) { now.largest = size, now.simulated = simulations; });
  }

 private:
  template <class Change>
  void change(Change&& change) {
    if (!told_) return;
    const std::lock_guard lock(mutex_);
    change(now_);
    (*told_)(now_);
  }

  const Told* told_;
  std::mutex mutex_;
  Progress now_;
};

}  // namespace tidemark::plan
