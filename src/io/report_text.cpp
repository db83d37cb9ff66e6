#include "io/report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bytes.h"
#include "estimate/breakdown.h"
#include "estimate/verdict.h"
#include "io/plan_text.h"
#include "io/serving_text.h"
#include "io/text_table.h"

namespace tidemark::io {
namespace {

// 42 lines at most below the verdict (and those of ranks), what a terminal shows at once: out of memory 1, peaks 5,
// the device's account 4, varying inputs or the epoch 1, margin 1, interval 1, steps 1 + 4
// + 1, categories 1 + 7 + 1, modules 1 + 7 + 1, what was found 1, assumptions 3 + 1.
constexpr std::size_t kMaxRanks = 16, kMaxSteps = 4, kMaxCategories = 7, kMaxModules = 7, kMaxNotes = 3;

std::string peaks_table(const Report& report) {
  const Peak& peak = report.peak;
  const std::string whose = report.rank ? fmt::format(" of rank {} of {}", report.rank->rank, report.rank->ranks) : "";
  TextTable table({fmt::format("peak{} (step {}, {})", whose, peak.step, name_of(peak.phase)), "", "bytes"});
  const auto row = [&](const std::string& name, std::int64_t bytes) {
    table.add({name, format_bytes(bytes), group_digits(bytes)});
  };
  row("allocated", peak.allocated_bytes);
  row("reserved", peak.reserved_bytes);
  row("device", peak.device_bytes);
  for (const DeviceItem& item : report.device)
    table.add({"  " + item.name, format_bytes(item.bytes.typical), range_text(item.bytes.low, item.bytes.high)});
  row(report.card.name.empty() ? "card" : report.card.name, report.card.total_bytes);
  if (report.rank && report.host.pageable_bytes) row("host, pageable tensors", *report.host.pageable_bytes);
  if (report.rank && report.host.pinned_bytes) row("host, pinned", *report.host.pinned_bytes);
  if (report.host.managed_bytes > 0) row("managed, on the card or the host", report.host.managed_bytes);
  std::string text = table.text(2);
  if (report.data)
    text += fmt::format("  {}\n", data_line(*report.data));
  else if (!report.varying_inputs.empty())
    text += fmt::format("  {}\n", varying_line(report));
  if (report.compiling) text += fmt::format("  {}\n", compiling_line(*report.compiling, peak));
  if (const auto& margin = report.margin) text += fmt::format("  {}\n", margin_line(*margin));
  if (const auto& interval = report.interval)
    text += fmt::format("  allocated {}, reserved {}: {}\n",
                        range_text(interval->allocated_low_bytes, interval->allocated_high_bytes),
                        range_text(interval->reserved_low_bytes, interval->reserved_high_bytes), interval->why);
  return text;
}

bool alike(const RankReport& a, const RankReport& b) {
  return a.peak.allocated_bytes == b.peak.allocated_bytes && a.peak.reserved_bytes == b.peak.reserved_bytes &&
         a.pageable_bytes == b.pageable_bytes && a.pinned_bytes == b.pinned_bytes && a.fits == b.fits;
}

std::string host_bytes(const std::optional<std::int64_t>& bytes) { return bytes ? format_bytes(*bytes) : ""; }

/// Neighbours that are alike share a row.
std::string ranks_table(const std::vector<RankReport>& ranks) {
  if (ranks.empty()) return {};
  TextTable table({"rank", "allocated", "reserved", ranks[0].pageable_bytes ? "host" : "", "", ""});
  std::size_t shown = 0, first = 0;
  while (first < ranks.size() && shown++ < kMaxRanks) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && alike(ranks[first], ranks[last + 1])) ++last;
    const RankReport& row = ranks[first];
    table.add({first == last ? fmt::format("{}", row.rank) : fmt::format("{} to {}", row.rank, ranks[last].rank),
               group_digits(row.peak.allocated_bytes), group_digits(row.peak.reserved_bytes),
               host_bytes(row.pageable_bytes), row.pinned_bytes ? host_bytes(row.pinned_bytes) + " pinned" : "",
               row.fits == false ? "does not fit"
               : row.fits        ? "fits"
                                 : "not known"});
    first = last + 1;
  }
  return table.text(2) + (first < ranks.size() ? fmt::format("  … and {} more ranks\n", ranks.size() - first) : "");
}

std::string steps_table(const Report& report) {
  if (report.steps.empty()) return {};
  const std::vector<Phase> phases = report.generation ? std::vector{Phase::prefill, Phase::decode}
                                                      : std::vector{Phase::forward, Phase::backward, Phase::optimizer};
  std::vector<std::string> titles{"step"};
  for (const Phase phase : phases) titles.emplace_back(name_of(phase));
  titles.emplace_back("reserved");
  TextTable table(titles);
  // The first steps are where states appear; later ones repeat.
  const std::size_t shown = std::min(report.steps.size(), kMaxSteps);
  for (std::size_t i = 0; i < shown; ++i) {
    const StepReport& step = report.steps[i];
    const auto peak_of = [&](Phase phase) {
      const auto found = std::find_if(step.phases.begin(), step.phases.end(),
                                      [&](const PhaseReport& one) { return one.phase == phase; });
      return found == step.phases.end() ? std::string("-") : format_bytes(found->peak_allocated_bytes);
    };
    std::vector<std::string> row{fmt::format("{}", step.step)};
    for (const Phase phase : phases) row.push_back(peak_of(phase));
    row.push_back(format_bytes(step.peak_reserved_bytes));
    table.add(row);
  }
  std::string text = table.text(2);
  if (report.steps.size() > shown) text += fmt::format("  … and {} more steps\n", report.steps.size() - shown);
  return text;
}

std::string stages_table(const std::vector<StageReport>& stages) {
  if (stages.empty()) return {};
  TextTable table({"stage", "peak", "kept"});
  for (const StageReport& stage : stages)
    table.add({stage.name, format_bytes(stage.peak_allocated_bytes), format_bytes(stage.kept_bytes)});
  return table.text(2);
}

std::string breakdown(const char* title, std::vector<NamedBytes> rows, std::int64_t whole, std::size_t limit) {
  std::erase_if(rows, [](const NamedBytes& row) { return row.bytes == 0; });
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  TextTable table({title, "", ""});
  const std::size_t shown = std::min(rows.size(), limit);
  for (std::size_t i = 0; i < shown; ++i)
    table.add({shorten_front(rows[i].name, 48), format_bytes(rows[i].bytes), percent(rows[i].bytes, whole)});
  std::int64_t others = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) others += rows[i].bytes;
  if (others > 0)
    table.add({fmt::format("[{} others]", rows.size() - shown), format_bytes(others), percent(others, whole)});
  return table.text(2);
}

std::string notes(const Report& report) {
  std::string text;
  const std::vector<Assumption> all = ranked_assumptions(report);
  const auto first = std::count_if(all.begin(), all.end(), [](const Assumption& one) { return one.moves_peak; });
  const std::size_t shown = std::min(all.size(), std::max(kMaxNotes, static_cast<std::size_t>(first)));
  for (std::size_t i = 0; i < shown; ++i) {
    const Assumption& one = all[i];
    text += "  assumed: " + one.what;
    if (!one.where.empty()) text += " at " + one.where;
    text += one.count > 1 ? fmt::format(" ({} times)\n", one.count) : "\n";
  }
  if (all.size() > shown)
    text += fmt::format("  … and {} more assumptions (in the JSON and HTML reports)\n", all.size() - shown);
  return text;
}

/// "training: llama --batch 4 --lora-r 16; 41,943,040 parameters train, beside 8,030,261,248 of the model"
std::string training_line(const TrainingReport& training, bool generates) {
  std::string text = (generates ? "  generation: " : "  training: ") + training.model_type;
  if (const std::string options = options_of(training.options); !options.empty()) text += " " + options;
  const std::string whole = group_digits(training.parameters);
  if (!training.trained_parameters) return fmt::format("{}; {} parameters\n", text, whole);
  const std::string trained = group_digits(*training.trained_parameters);
  if (trained == whole) return fmt::format("{}; all {} parameters train\n", text, whole);
  return fmt::format("{}; {} parameters train, beside {} of the model\n", text, trained, whole);
}

/// "cache: 1.00 GiB of 2,047 tokens in each of 4 samples, 131,072 bytes per token"
std::string cache_line(const GenerationReport& generation) {
  const std::int64_t tokens = generation.batch * generation.cached_tokens;
  return fmt::format("  cache: {} of {} tokens in each of {} sample{}, {} bytes per token\n",
                     format_bytes(generation.cache_bytes), group_digits(generation.cached_tokens), generation.batch,
                     generation.batch == 1 ? "" : "s", group_digits(generation.cache_bytes / tokens));
}

/// Whether a layer does not hold all tokens.
bool holds_otherwise(const KvCacheReport& cache) { return cache.window_layers + cache.state_layers > 0; }

/// "torch 2.11.0 (the default), transformers 5.17.0 (/home/me/.venv)"; what was said is not repeated.
std::string found(const Report& report) {
  std::vector<std::string> parts;
  for (const auto& [name, source] : report.sources) {
    const auto version = report.versions.find(name);
    parts.push_back(version == report.versions.end() ? fmt::format("{} {}", name, source)
                                                     : fmt::format("{} {} ({})", name, version->second, source));
  }
  return parts.empty() ? "" : fmt::format("  {}\n", fmt::join(parts, ", "));
}

}  // namespace

std::string kv_cache_text(const KvCacheReport& cache) {
  std::string text;
  if (cache.layers > 0)
    text += fmt::format("    {} bytes per token in {} layers\n", group_digits(cache.bytes_per_token), cache.layers);
  if (cache.window_layers > 0)
    text +=
        fmt::format("    {} bytes per token in {} layers, which hold the last {} tokens\n",
                    group_digits(cache.window_bytes_per_token), cache.window_layers, group_digits(cache.window_tokens));
  if (cache.state_layers > 0)
    text += fmt::format("    a state of a fixed size in {} layers, not counted here\n", cache.state_layers);
  return text;
}

std::string report_to_text(const Report& report) {
  std::string text = report.verdict + "\n";
  if (report.oom && !report.oom->where.empty()) text += fmt::format("  at {}\n", report.oom->where);
  text += ranks_table(report.ranks);
  text += peaks_table(report);
  if (report.serving) text += serving_to_text(*report.serving);
  text += steps_table(report);
  text += stages_table(report.stages);
  if (report.generation && report.generation->cached_tokens > 0) text += cache_line(*report.generation);
  if (report.generation && report.kv_cache && holds_otherwise(*report.kv_cache))
    text += kv_cache_text(*report.kv_cache);
  const std::int64_t live = report.peak.allocated_bytes;
  text += breakdown("live at the peak", report.at_peak.by_category, live, kMaxCategories);
  text += breakdown("by module", layers_together(report.at_peak.by_module), live, kMaxModules);
  for (const Remedy& one : report.remedies)
    text += fmt::format("  would fit: {} ({})\n", change_text(one.change), format_bytes(one.device_bytes));
  if (report.training) text += training_line(*report.training, report.generation.has_value());
  text += found(report);
  text += notes(report);
  return text;
}

}  // namespace tidemark::io
