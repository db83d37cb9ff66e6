#include "plan_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "io/plan_text.h"

namespace tidemark::cli {
namespace {

constexpr double kSecondsBetween = 0.2;
constexpr double kSecondsUntilSeen = 0.5;  // what is decided by then needs no line

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

PlanLine::PlanLine(bool is_quiet) : is_live_(!is_quiet && ::isatty(STDERR_FILENO) == 1), begun_(now()) {}

plan::Told PlanLine::told(std::string of) {
  if (!is_live_) return {};
  return plan::told_each(kSecondsBetween, [this, of = std::move(of)](const plan::Progress& progress) {
    const double seconds = now() - begun_;
    if (seconds >= kSecondsUntilSeen)
      line_.show(fmt::format("{}{}  {:.0f} s", of, io::progress_to_text(progress), seconds));
  });
}

}  // namespace tidemark::cli
