#include "estimate/verdict.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace tidemark {
namespace {

std::string out_of_memory_verdict(const Report& report, const OutOfMemoryReport& oom) {
  const std::string when =
      oom.step > 0 ? fmt::format("at step {}, {}", oom.step, name_of(oom.phase)) : std::string("before the first step");
  return fmt::format(
      "does not fit: out of memory {}, asking for {} with {} of {} in use", when, format_bytes(oom.requested_bytes),
      format_bytes(oom.in_use_bytes.value_or(report.peak.device_bytes)), format_bytes(report.card.total_bytes));
}

std::string straddling_verdict(const Report& report, std::int64_t low, std::int64_t high) {
  return fmt::format("may not fit: peak between {} and {} of {} ({})", format_bytes(low), format_bytes(high),
                     format_bytes(report.card.total_bytes), report.interval->why);
}

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::load: return "load";
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::optimizer: return "optimizer";
    case Phase::other: return "other";
  }
  return "other";
}

std::int64_t device_overhead_bytes(const ReportCard& card) {
  return checked_add(card.context_bytes, card.driver_reserved_bytes);
}

void judge(Report& report) {
  const std::int64_t overhead = device_overhead_bytes(report.card);
  const std::int64_t total = report.card.total_bytes;
  report.peak.device_bytes = checked_add(report.peak.reserved_bytes, overhead);
  if (report.oom) {
    report.fits = false;
    report.verdict = out_of_memory_verdict(report, *report.oom);
    return;
  }
  if (report.script.exit_code != 0) {  // it never got where it wanted to: its peak is that of a part
    report.fits.reset();
    report.verdict = fmt::format("not known: the program ended with exit code {}; until then its peak was {} of {}",
                                 report.script.exit_code, format_bytes(report.peak.device_bytes), format_bytes(total));
    return;
  }
  if (report.interval) {
    const std::int64_t low = checked_add(report.interval->reserved_low_bytes, overhead);
    const std::int64_t high = checked_add(report.interval->reserved_high_bytes, overhead);
    if (low <= total && high > total) {
      report.fits.reset();
      report.verdict = straddling_verdict(report, low, high);
      return;
    }
  }
  const std::int64_t peak = report.peak.device_bytes;
  report.fits = peak <= total;
  report.verdict = *report.fits ? fmt::format("fits: peak {} of {}, {} free", format_bytes(peak), format_bytes(total),
                                              format_bytes(total - peak))
                                : fmt::format("does not fit: peak {} of {}, {} too much", format_bytes(peak),
                                              format_bytes(total), format_bytes(peak - total));
}

}  // namespace tidemark
