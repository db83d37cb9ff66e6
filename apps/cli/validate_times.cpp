#include "validate_times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/in_parallel.h"
#include "card_choice.h"
#include "efficiencies.h"
#include "files.h"
#include "io/text_table.h"
#include "io/validation_text.h"
#include "io/value_json.h"
#include "plan/oracle.h"
#include "resources.h"
#include "spec_options.h"
#include "validate/step_times.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_of(const ValidateOptions& options, const fs::path& validation) {
  if (!options.corpora.empty()) return options.corpora;
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(validation / "step_times", error))
    if (fs::exists(entry.path() / "corpus.json", error)) folders.push_back(entry.path().string());
  if (folders.empty())
    throw Error(Errc::not_found, "no step times are installed", validation.string(), "name a folder with them");
  std::sort(folders.begin(), folders.end());
  return folders;
}

TimesCorpus read_times(const std::string& folder) {
  TimesCorpus corpus;
  corpus.folder = folder;
  const std::string info = (fs::path(folder) / "corpus.json").string();
  corpus.info = read_times_info(io::value_from_json(read_file(info), info), info);
  const std::string file = (fs::path(folder) / "rows.jsonl").string();
  const std::string text = read_file(file);
  std::set<std::string> ids;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string where = fmt::format("{}: line {}", file, line);
    if (end > begin) {
      corpus.rows.push_back(read_timed_row(io::value_from_json(text.substr(begin, end - begin), where), where));
      if (!ids.insert(corpus.rows.back().id).second)
        throw Error(Errc::bad_value, fmt::format("the id \"{}\" is given twice", corpus.rows.back().id), where);
    }
    begin = end + 1;
  }
  return corpus;
}

/// Of one model on one card; what a pass computes is counted once.
struct Timed {
  Asked asked;
  plan::Engine engine;
  plan::Oracle oracle;
};

class Estimates {
 public:
  explicit Estimates(const Resources& resources)
      : data_(resources.data), efficiencies_(load_efficiencies(resources.data)) {}

  double seconds(const TimedRow& row, const std::string& folder) {
    Asked asked = read_asked(row.spec, folder, row.where + ": spec");
    Spec spec = asked.spec;
    return of(row, std::move(asked)).oracle.time(spec).seconds;
  }

 private:
  const plan::Efficiency& reached(const TimedRow& row, const Card& card) const {
    if (row.kernels.empty()) return efficiencies_.of(card.key);
    const auto found = efficiencies_.cards.find(row.kernels);
    if (found == efficiencies_.cards.end())
      throw Error(Errc::bad_value, fmt::format("data/efficiency.json has no row \"{}\"", row.kernels), row.where);
    return found->second;
  }

  Timed& of(const TimedRow& row, Asked asked) {
    const std::string key = fmt::format("{} {} {} {} {}", row.gpu, row.kernels, row.network_bytes_per_s,
                                        row.parts_between_stages, io::value_to_json(asked.model_config));
    std::unique_ptr<Timed>& timed = timed_[key];
    if (timed) return *timed;
    timed = std::make_unique<Timed>();
    timed->asked = std::move(asked);
    const Card card = choose_card(row.gpu, "", data_);
    capture_unknown(timed->asked);
    timed->engine = {.model_config = timed->asked.model_config,
                     .card = card,
                     .programs = timed->asked.programs_of,
                     .keep_margin = {},
                     .efficiency = reached(row, card),
                     .network_bytes_per_s = row.network_bytes_per_s,
                     .parts_between_stages = row.parts_between_stages};
    timed->oracle = plan::make_oracle(timed->engine);
    return *timed;
  }

  fs::path data_;
  plan::EfficiencyTable efficiencies_;
  std::map<std::string, std::unique_ptr<Timed>> timed_;
};

struct ScoredCorpus {
  TimesCorpus corpus;
  std::vector<TimedEstimate> estimates;
};

struct JudgedBar {
  const ScoredCorpus* scored;
  const TimeBar* bar;
  std::optional<double> value;
  bool met = false;
};

JudgedBar judged(const ScoredCorpus& scored, const TimeBar& bar) {
  std::vector<TimedEstimate> meant;
  for (const TimedEstimate& one : scored.estimates)
    if (is_meant(bar, *one.row, one.row->where)) meant.push_back(one);
  JudgedBar result{&scored, &bar, time_statistics(meant).value(bar.statistic)};
  result.met = result.value && (bar.at == At::most ? *result.value <= bar.limit : *result.value >= bar.limit);
  return result;
}

std::string shown(TimeStatistic statistic, const std::optional<double>& value) {
  if (!value) return "-";
  if (statistic == TimeStatistic::kendall_tau) return fmt::format("{:.2f}", *value);
  if (statistic == TimeStatistic::n || statistic == TimeStatistic::pairs) return fmt::format("{:.0f}", *value);
  return io::percent_text(value, statistic == TimeStatistic::signed_mean);
}

std::string_view name_of(TimeStatistic statistic) { return kTimeStatisticNames[static_cast<std::size_t>(statistic)]; }

std::string bar_text(const JudgedBar& one) {
  std::vector<std::string> where{one.scored->corpus.info.name};
  for (const auto& [field, value] : one.bar->where) where.push_back(fmt::format("{} {}", field, value));
  return fmt::format("{}: {} at {} {}", fmt::join(where, ", "), name_of(one.bar->statistic),
                     kAtNames[static_cast<std::size_t>(one.bar->at)], shown(one.bar->statistic, one.bar->limit));
}

/// Rows by corpus, card and group, in that order.
std::map<std::vector<std::string>, std::vector<TimedEstimate>> groups_of(const std::vector<ScoredCorpus>& all) {
  std::map<std::vector<std::string>, std::vector<TimedEstimate>> groups;
  for (const ScoredCorpus& one : all)
    for (const TimedEstimate& estimate : one.estimates)
      groups[{one.corpus.info.name, estimate.row->gpu, estimate.row->group}].push_back(estimate);
  return groups;
}

std::string table_text(const std::vector<ScoredCorpus>& all) {
  io::TextTable table({"corpus, gpu, group", "n", "median", "p90", "signed", "pairs", "tau"});
  std::vector<TimedEstimate> whole;
  const auto add = [&](const std::string& name, const std::vector<TimedEstimate>& estimates) {
    const TimeStatistics s = time_statistics(estimates);
    table.add({name, shown(TimeStatistic::n, s.n), shown(TimeStatistic::median, s.median),
               shown(TimeStatistic::p90, s.p90), shown(TimeStatistic::signed_mean, s.signed_mean),
               shown(TimeStatistic::pairs, s.pairs), shown(TimeStatistic::kendall_tau, s.kendall_tau)});
  };
  for (const auto& [names, estimates] : groups_of(all)) {
    add(fmt::format("{}", fmt::join(names, ", ")), estimates);
    whole.insert(whole.end(), estimates.begin(), estimates.end());
  }
  add("all", whole);
  return table.text();
}

Value json_of(const std::vector<ScoredCorpus>& all, const std::vector<JudgedBar>& bars) {
  Value::List rows, stated, left_out;
  for (const ScoredCorpus& one : all) {
    for (const TimedEstimate& estimate : one.estimates)
      rows.push_back(Value::Map{{"corpus", one.corpus.info.name},
                                {"id", estimate.row->id},
                                {"gpu", estimate.row->gpu},
                                {"group", estimate.row->group},
                                {"model", estimate.row->model},
                                {"ranked_among", estimate.row->ranked_among},
                                {"ranked_alone", estimate.row->ranked_alone},
                                {"measured_seconds", estimate.row->seconds},
                                {"estimated_seconds", estimate.seconds},
                                {"error", estimate.error()}});
    for (const TimedRow& row : one.corpus.rows)
      if (row.left_out)
        left_out.push_back(Value::Map{{"corpus", one.corpus.info.name}, {"id", row.id}, {"reason", *row.left_out}});
  }
  for (const JudgedBar& bar : bars)
    stated.push_back(Value::Map{{"bar", bar_text(bar)},
                                {"value", bar.value ? Value(*bar.value) : Value()},
                                {"shown", shown(bar.bar->statistic, bar.value)},
                                {"met", bar.met},
                                {"why", bar.bar->why}});
  Value::List groups;
  for (const auto& [names, estimates] : groups_of(all)) {
    const TimeStatistics s = time_statistics(estimates);
    Value group = Value::Map{{"corpus", names[0]}, {"gpu", names[1]}, {"group", names[2]}};
    for (std::size_t i = 0; i < kTimeStatisticNames.size(); ++i) {
      const std::optional<double> value = s.value(static_cast<TimeStatistic>(i));
      group.append(std::string(kTimeStatisticNames[i]), value ? Value(*value) : Value());
    }
    groups.push_back(std::move(group));
  }
  return Value::Map{{"schema", "tidemark.step-times-validation/1"},
                    {"rows", std::move(rows)},
                    {"groups", std::move(groups)},
                    {"bars", std::move(stated)},
                    {"left_out", std::move(left_out)}};
}

ScoredCorpus scored(TimesCorpus corpus, const std::string& only, Estimates& estimates) {
  ScoredCorpus result{.corpus = std::move(corpus), .estimates = {}};
  for (const TimedRow& row : result.corpus.rows)
    if (!row.left_out && row.id.find(only) != std::string::npos)
      result.estimates.push_back({&row, estimates.seconds(row, result.corpus.folder)});
  return result;
}

}  // namespace

int validate_times(const ValidateOptions& options) {
  const Resources resources = find_resources();
  require_writable(options.json, "--json");
  Estimates estimates(resources);
  const std::vector<std::string> folders = folders_of(options, resources.validation);
  std::vector<ScoredCorpus> all;
  all.reserve(folders.size());
  for (const std::string& folder : folders) all.push_back(scored(read_times(folder), options.only, estimates));
  std::vector<JudgedBar> bars;
  if (options.only.empty())
    for (const ScoredCorpus& one : all)
      for (const TimeBar& bar : one.corpus.info.bars) bars.push_back(judged(one, bar));
  std::FILE* const to = options.json == "-" ? stderr : stdout;
  write_output(options.json, io::value_to_json(json_of(all, bars)));
  fmt::print(to, "{}", table_text(all));
  for (const JudgedBar& bar : bars)
    fmt::print(to, "{}: {}, {}\n", bar_text(bar), shown(bar.bar->statistic, bar.value), bar.met ? "met" : "MISSED");
  return std::all_of(bars.begin(), bars.end(), [](const JudgedBar& bar) { return bar.met; }) ? 0 : 1;
}

}  // namespace tidemark::cli
