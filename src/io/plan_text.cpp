#include "io/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "estimate/verdict.h"
#include "io/text_table.h"

namespace tidemark::io {
namespace {

using plan::Goal;
using plan::Planned;

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// As a shell takes it.
std::string shell_quoted(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

std::string written(const Value& value) {
  if (const std::string* text = value.as_text()) return shell_quoted(*text);
  if (const Value::List* list = value.as_list()) {
    std::string joined;
    for (const Value& one : *list)
      joined += (joined.empty() ? "" : ",") + (one.as_text() ? *one.as_text() : one.quoted());
    return shell_quoted(joined);
  }
  return value.quoted();
}

void add_options(const Value& keys, const std::string& prefix, std::string& text) {
  for (const Value::Item& item : *keys.as_map()) {
    const std::string option = prefix + dashed(item.key);
    const std::string space = text.empty() ? "" : " ";
    if (item.value.as_map()) {
      if (item.value.as_map()->empty()) text += space + "--" + option;
      add_options(item.value, option + "-", text);
    } else if (const bool* truth = item.value.as_bool()) {
      text += space + (*truth ? "--" : "--no-") + option;
    } else if (item.value.is_null()) {
      text += space + "--no-" + option;
    } else {
      text += space + "--" + option + " " + written(item.value);
    }
  }
}

std::string seconds_text(double seconds) {
  if (seconds <= 0) return "-";
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", seconds * 1000);
  return seconds < 999.5 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

/// What eight of ten published steps took of their estimates, and the estimate, which is of kernels that were timed
/// alone.
std::string band(const plan::StepTime& seen) {
  if (seen.seconds <= 0) return "not known";
  return fmt::format("{} to {} (kernels {})", seconds_text(seen.low_seconds), seconds_text(seen.high_seconds),
                     seconds_text(seen.seconds));
}

std::string_view stage_text(plan::Stage stage) {
  switch (stage) {
    case plan::Stage::order: return "ways looked at";
    case plan::Stage::largest: return "ways decided";
    case plan::Stage::search: return "decided";
    case plan::Stage::least: return "decided of what needs least";
  }
  return "";
}

std::string_view title_of(Goal goal) {
  switch (goal) {
    case Goal::fastest: return "fastest that fits";
    case Goal::least_memory: return "least memory";
    case Goal::smallest_change: return "smallest change that fits";
    case Goal::pareto: return "every trade of memory for time";
  }
  return "";
}

std::string where(const ReportCard& card, const plan::Bounds& bounds) {
  const std::string name = card.name.empty() ? "the card" : card.name;
  return bounds.gpus > 1 ? fmt::format("{} x {}", bounds.gpus, name) : name;
}

std::string samples_text(std::int64_t samples) {
  return group_digits(samples) + (samples == 1 ? " sample" : " samples");
}

/// The first rows are what is advised.
std::string answers_table(const plan::Plan& plan) {
  TextTable table({"", "a step takes", "peak", "change"}, TextTable::Align::left);
  for (std::size_t i = 0; i < plan.answers.size(); ++i) {
    const Planned& answer = plan.answers[i];
    table.add({fmt::format("{}", i + 1), band(answer.time), format_bytes(answer.seen.peak.device_bytes),
               change_text(answer.change)});
  }
  return table.text(2);
}

std::string refused_table(const std::vector<Planned>& refused) {
  if (refused.empty()) return {};
  TextTable table({"would be better and does not fit", "needs", "change"}, TextTable::Align::left);
  for (const Planned& one : refused) table.add({"", format_bytes(one.seen.peak.device_bytes), change_text(one.change)});
  return table.text(2);
}

std::string counts(const plan::Plan& plan) {
  std::string text =
      fmt::format("  decided among {} configurations by {} simulations\n",
                  group_digits(static_cast<std::int64_t>(plan.candidates)), group_digits(plan.simulated));
  if (!plan.answers.empty() && plan.answers.front().time.of_cards_in_general)
    text += "  assumed: times by what cards reach in general, since no kernels of this card were measured\n";
  const std::int64_t refused = plan::unsimulated_count(plan);
  if (refused == 0) return text;
  const auto most = std::max_element(plan.refusals.begin(), plan.refusals.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return text + fmt::format("  {} could not be simulated, most often: {}\n", group_digits(refused), most->first);
}

/// Peaks of the first answer, by phase and by rank, and the assumptions that move them.
std::string details(const Planned& answer) {
  std::string text = "  of the first:\n";
  const Report& report = *answer.seen.report;
  text += fmt::format("    allocated {}, reserved {}, device {}\n", group_digits(report.peak.allocated_bytes),
                      group_digits(report.peak.reserved_bytes), group_digits(report.peak.device_bytes));
  if (!report.steps.empty()) {
    text += "    step " + std::to_string(report.steps.back().step) + ":";
    for (const PhaseReport& phase : report.steps.back().phases)
      text += fmt::format(" {} {}", name_of(phase.phase), format_bytes(phase.peak_allocated_bytes));
    text += '\n';
  }
  for (std::size_t i = 0; i < report.ranks.size() && report.ranks.size() > 1; ++i) {
    const bool is_new = i == 0 || report.ranks[i].peak.reserved_bytes != report.ranks[i - 1].peak.reserved_bytes ||
                        report.ranks[i].peak.allocated_bytes != report.ranks[i - 1].peak.allocated_bytes;
    if (is_new)
      text += fmt::format("    rank {}: allocated {}, reserved {}\n", report.ranks[i].rank,
                          group_digits(report.ranks[i].peak.allocated_bytes),
                          group_digits(report.ranks[i].peak.reserved_bytes));
  }
  for (const Assumption& one : report.assumptions)
    if (one.moves_peak) text += fmt::format("    assumed: {}\n", one.what);
  return text;
}

/// Options that may make it fit, beside those of the least.
std::string remedy(const plan::Plan& plan) {
  const Spec* least = plan.least ? &plan.least->spec : nullptr;
  if (!least || !least->lora) return "--allow lora, or another decision that changes the training, may make it fit";
  if (!least->quantization) return "--allow quantization, a smaller --seq or --batch, or more GPUs may make it fit";
  return "a smaller --seq or --batch, or more GPUs may make it fit";
}

std::string nothing_fits(const plan::Plan& plan, const ReportCard& card) {
  std::string text = fmt::format(
      "{}: {} has {}",
      plan::is_undecided(plan) ? "undecided, as most configurations could not be simulated" : "nothing fits",
      card.name.empty() ? "the card" : card.name, format_bytes(card.total_bytes));
  if (plan.least)
    // What is not known of the card beside the allocator can be what keeps it out.
    text += fmt::format("{} {}: {}",
                        plan.least->seen.peak.device_bytes <= card.total_bytes
                            ? "; what needs least may fit, and needs about"
                            : ", and the least that would do needs",
                        format_bytes(plan.least->seen.peak.device_bytes), change_text(plan.least->change));
  return fmt::format("{}\n  {}\n", text, remedy(plan));
}

}  // namespace

std::string options_of(const Value& keys) {
  std::string text;
  add_options(keys, "", text);
  return text;
}

std::string change_text(const Value& change) {
  const std::string text = options_of(change);
  return text.empty() ? "none" : text;
}

std::string progress_to_text(const plan::Progress& progress) {
  std::string text = fmt::format("{} of {} {}, {} simulated", group_digits(static_cast<std::int64_t>(progress.decided)),
                                 group_digits(static_cast<std::int64_t>(progress.candidates)),
                                 stage_text(progress.stage), group_digits(progress.simulated));
  if (progress.largest > 0) text += fmt::format("; so far {}", group_digits(progress.largest));
  if (progress.step_seconds && progress.peak_device_bytes)
    text += fmt::format("; so far {} a step, {}", seconds_text(*progress.step_seconds),
                        format_bytes(*progress.peak_device_bytes));
  return text;
}

std::string plan_to_text(const plan::Plan& plan, Goal goal, const ReportCard& card, const plan::Bounds& bounds) {
  if (plan.answers.empty()) return nothing_fits(plan, card) + counts(plan);
  return fmt::format("{}: {} of {}, {} a step\n", title_of(goal), where(card, bounds), format_bytes(card.total_bytes),
                     samples_text(bounds.samples_per_step)) +
         answers_table(plan) + refused_table(plan.refused) + details(plan.answers.front()) + counts(plan);
}

std::string largest_to_text(const plan::LargestPlan& found, plan::Size size, const ReportCard& card,
                            const plan::Bounds& bounds) {
  const std::string_view name = plan::kSizeNames[static_cast<std::size_t>(size)];
  if (found.value == 0) return nothing_fits(found.plan, card) + counts(found.plan);
  const std::string why = found.why.empty() ? std::string(" does not fit in any way") : ": " + found.why;
  return fmt::format("largest {}: {} on {}; {}{}\n", name, group_digits(found.value), where(card, bounds),
                     group_digits(found.refused), why) +
         answers_table(found.plan) + details(found.plan.answers.front()) + counts(found.plan);
}

std::string checkpointing_to_text(const plan::CheckpointingPlan& found, const ReportCard& card,
                                  const plan::Bounds& bounds) {
  const plan::Plan& plan = found.plan;
  const std::int64_t budget = found.budget_bytes > 0 ? found.budget_bytes : card.total_bytes;
  if (plan.answers.empty())
    return fmt::format("no checkpointing is within {}; with every layer checkpointed the peak is {}\n",
                       format_bytes(budget), format_bytes(plan.least->seen.peak.device_bytes)) +
           counts(plan);
  constexpr double kTera = 1e12;
  return fmt::format("least recomputation: within {} on {}\n", format_bytes(budget), where(card, bounds)) +
         answers_table(plan) + refused_table(plan.refused) +
         fmt::format("  runs again in each pass: {:.4g} of {:.4g} TFLOP, and what writes {}\n",
                     found.again.flops / kTera, found.pass_flops / kTera,
                     format_bytes(static_cast<std::int64_t>(found.again.written_bytes))) +
         details(plan.answers.front()) + counts(plan);
}

double cost_of(const PricedPlan& one) { return one.per_hour / 3600 * one.plan.answers.front().time.seconds * 1000; }

bool is_cheaper(const PricedPlan& a, const PricedPlan& b) {
  if (a.plan.answers.empty() || b.plan.answers.empty()) return b.plan.answers.empty() && !a.plan.answers.empty();
  return cost_of(a) < cost_of(b);
}

std::string priced_to_text(const std::vector<PricedPlan>& all) {
  TextTable table({"card", "1000 steps cost", "a step takes", "peak", "change"}, TextTable::Align::left);
  for (const PricedPlan& one : all) {
    if (one.plan.answers.empty()) {
      const std::string needs = one.plan.least ? "needs " + format_bytes(one.plan.least->seen.peak.device_bytes) : "";
      table.add({one.place, "does not fit", "", needs, one.plan.least ? change_text(one.plan.least->change) : ""});
      continue;
    }
    const Planned& answer = one.plan.answers.front();
    table.add({one.place, fmt::format("{:.2f}", cost_of(one)), band(answer.time),
               format_bytes(answer.seen.peak.device_bytes), change_text(answer.change)});
  }
  return table.text(0);
}

}  // namespace tidemark::io
