#include "estimate/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bytes.h"

namespace tidemark {
namespace {

std::string out_of_memory_verdict(const Report& report, const OutOfMemoryReport& oom) {
  const std::string when =
      oom.step > 0 ? fmt::format("at step {}, {}", oom.step, name_of(oom.phase)) : std::string("before the first step");
  const std::string total = format_bytes(report.card.total_bytes);
  const std::string held = oom.in_use_bytes
                               ? fmt::format("with {} of {} in use", format_bytes(*oom.in_use_bytes), total)
                               : fmt::format("with a peak of {} of {}", format_bytes(report.peak.device_bytes), total);
  return fmt::format("does not fit: out of memory {}, asking for {} {}", when, format_bytes(oom.requested_bytes), held);
}

/// NVIDIA's driver for Windows since 536.40: "CUDA - Sysmem Fallback Policy".
constexpr std::string_view kSpills = ", which Windows keeps in host memory: the training goes on, slowly";

std::string straddling_verdict(const Report& report, std::int64_t low, std::int64_t high) {
  std::string why = report.interval ? report.interval->why : "";
  for (const DeviceItem& item : report.device)
    if (item.bytes.low != item.bytes.high)
      why += fmt::format("{}{} {}", why.empty() ? "" : "; ", item.name,
                         format_bytes(item.bytes.low) + " to " + format_bytes(item.bytes.high));
  return fmt::format("may not fit: peak between {} and {} of {} ({})", format_bytes(low), format_bytes(high),
                     format_bytes(report.card.total_bytes), why);
}

/// Reserved bytes that are never on the device together with the others.
std::int64_t unmapped_bytes(const Peak& peak) {
  return peak.physical_bytes ? std::max<std::int64_t>(0, peak.reserved_bytes - *peak.physical_bytes) : 0;
}

/// "starts and serves 13 sequences of 32,768 tokens, ", or nothing of a training.
std::string served(const Report& report) {
  if (!report.serving || report.serving->tokens == 0) return {};
  const std::int64_t sequences = served_sequences(*report.serving);
  return fmt::format("starts and serves {} sequence{} of {} tokens, ", group_digits(sequences),
                     sequences == 1 ? "" : "s", group_digits(report.serving->length));
}

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::load: return "load";
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::optimizer: return "optimizer";
    case Phase::prefill: return "prefill";
    case Phase::decode: return "decode";
    case Phase::other: return "other";
  }
  return "other";
}

BytesRange device_overhead_bytes(const Report& report) {
  BytesRange sum;
  for (const DeviceItem& item : report.device) sum += item.bytes;
  if (!report.device.empty()) return sum;
  const std::int64_t bytes = checked_add(report.card.context_bytes, report.card.driver_reserved_bytes);
  return {bytes, bytes, bytes};
}

std::vector<Assumption> ranked_assumptions(const Report& report) {
  std::vector<Assumption> all = report.assumptions;
  std::stable_partition(all.begin(), all.end(), [](const Assumption& one) { return one.moves_peak; });
  return all;
}

std::string margin_line(const Margin& margin) {
  return fmt::format("margin {} of {} measured residuals ({}): {:+.1f} %, {}", margin.quantile, margin.residuals,
                     margin.of, 100 * margin.share, format_bytes(margin.bytes));
}

bool may_rise(const Report& report) {
  if (report.data) return !report.data->whole;
  return report.script.stopped_after_steps.has_value() && !report.varying_inputs.empty();
}

std::string data_line(const DataReport& data) {
  std::string line = fmt::format("an epoch of {} batches, {} trained on", data.batches, data.trained_batches);
  if (data.whole && data.trained_batches < data.batches)
    line += ", the others replayed: the peak of them all";
  else if (!data.whole)
    line += fmt::format("{}; the others may need more: {}", data.largest_trained ? ", the largest among them" : "",
                        data.why);
  std::string before;  // inputs of the same shapes share a figure
  for (const DrawnInput& input : data.inputs) {
    const std::string shapes = fmt::format("{} to {} (median {}, 90 % up to {}, {} shapes)",
                                           fmt::join(input.smallest, "x"), fmt::join(input.largest, "x"),
                                           fmt::join(input.median, "x"), fmt::join(input.p90, "x"), input.shapes);
    if (shapes == before) continue;
    line += fmt::format("{}{} {}", before.empty() ? "; " : ", ", input.name, shapes);
    before = shapes;
  }
  return line;
}

std::string compiling_line(const CompilingReport& compiling, const Peak& peak) {
  const std::string graphs =  // vLLM compiles its own, which torch does not count
      compiling.graphs == 0 ? "" : fmt::format(" {} graph{}", compiling.graphs, compiling.graphs == 1 ? "" : "s");
  return fmt::format(
      "the peak of later steps and runs; this one compiled{}, which adds {} allocated, {} reserved: {} and {}", graphs,
      group_digits(compiling.peak_allocated_bytes - peak.allocated_bytes),
      group_digits(compiling.peak_reserved_bytes - peak.reserved_bytes), group_digits(compiling.peak_allocated_bytes),
      group_digits(compiling.peak_reserved_bytes));
}

std::string varying_line(const Report& report) {
  std::string inputs;
  for (const VaryingInput& input : report.varying_inputs)
    inputs += fmt::format("{}{} {} to {} ({} shapes)", inputs.empty() ? "" : ", ", input.name,
                          fmt::join(input.smallest, "x"), fmt::join(input.largest, "x"), input.shapes);
  if (!may_rise(report)) return fmt::format("batches varied: {}", inputs);
  return fmt::format("stopped after {} steps, while batches varied: {}; --data all answers for the whole epoch",
                     *report.script.stopped_after_steps, inputs);
}

std::int64_t served_sequences(const ServingReport& serving) {
  return std::min(static_cast<std::int64_t>(serving.concurrency), serving.most_sequences);
}

void judge(Report& report) {
  BytesRange beside = device_overhead_bytes(report);
  const std::int64_t total = report.card.total_bytes, unmapped = unmapped_bytes(report.peak);
  report.peak.device_bytes = checked_add(report.peak.reserved_bytes - unmapped, beside.typical);
  if (report.serving && !report.serving->refusal.empty()) {
    if (report.serving->for_memory)
      report.fits = false;
    else
      report.fits.reset();
    report.verdict = fmt::format("does not start: {} refuses: {}", report.serving->engine, report.serving->refusal);
    return;
  }
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
  const std::int64_t margin = report.margin ? report.margin->bytes : 0;
  beside += {margin, margin, margin};
  const std::int64_t reserved = report.peak.reserved_bytes;
  const auto& interval = report.interval;
  const std::int64_t low = checked_add((interval ? interval->reserved_low_bytes : reserved) - unmapped, beside.low);
  const std::int64_t high = checked_add((interval ? interval->reserved_high_bytes : reserved) - unmapped, beside.high);
  if (low <= total && high > total) {
    report.fits.reset();
    report.verdict = straddling_verdict(report, low, high);
    return;
  }
  const std::int64_t peak = report.peak.device_bytes, needed = checked_add(peak, margin);
  report.fits = needed <= total;
  const std::string with_margin =
      report.margin ? fmt::format(" with a margin of {}", format_bytes(margin)) : std::string();
  const std::string shown = (may_rise(report) ? "at least " : "") + format_bytes(peak);
  report.verdict =
      *report.fits ? fmt::format("fits{}: {}peak {} of {}{}, {} free", may_rise(report) ? " so far" : "",
                                 served(report), shown, format_bytes(total), with_margin, format_bytes(total - needed))
                   : fmt::format("does not fit: peak {} of {}{}, {} too much{}", shown, format_bytes(total),
                                 with_margin, format_bytes(needed - total), report.card.wddm ? kSpills : "");
}

}  // namespace tidemark
