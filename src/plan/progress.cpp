#include "plan/progress.h"

#include <chrono>
#include <memory>

namespace tidemark::plan {

Told told_each(double seconds, Told told) {
  using Clock = std::chrono::steady_clock;
  struct Last {
    std::optional<Stage> stage;
    Clock::time_point at;
  };
  return [told = std::move(told), last = std::make_shared<Last>(),
          period = std::chrono::duration<double>(seconds)](const Progress& now) {
    const Clock::time_point at = Clock::now();
    if (last->stage == now.stage && now.decided < now.candidates && at - last->at < period) return;
    *last = {now.stage, at};
    told(now);
  };
}

Teller::Teller(const Told& told, Stage stage, std::size_t candidates) : told_(told ? &told : nullptr) {
  now_.stage = stage;
  now_.candidates = candidates;
  if (told_) (*told_)(now_);
}

}  // namespace tidemark::plan
