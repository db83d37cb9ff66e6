// Measured step times: the rows of validation/step_times/*, estimates beside them, and the bars that are stated.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "validate/corpus.h"

namespace tidemark {

inline constexpr const char* kStepTimesSchema = "tidemark.step-times/1";

inline constexpr std::array<std::string_view, 6> kTimeStatisticNames{"n",           "median",      "p90",
                                                                     "signed_mean", "kendall_tau", "pairs"};
enum class TimeStatistic { n, median, p90, signed_mean, kendall_tau, pairs };

struct TimeBar {
  std::map<std::string, std::string> where = {};  // fields of the rows that are meant, and their values
  TimeStatistic statistic = TimeStatistic::median;
  double limit = 0;
  At at = At::most;
  std::string why = {};

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

struct TimedRow {
  std::string id, source, model, gpu, group;
  double seconds = 0;  // of one optimizer step
  double network_bytes_per_s = 0;
  std::string kernels;  // a row of data/efficiency.json; empty: the card's own
  bool parts_between_stages = false;
  Value spec;
  std::string ranked_among;
  bool ranked_alone = false;  // its seconds are not comparable
  std::optional<std::string> left_out;

  std::string where;  // file and line, for messages; no field

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// corpus.json
struct TimesInfo {
  std::string schema, name, title, source;
  std::vector<TimeBar> bars;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

struct TimesCorpus {
  TimesInfo info;
  std::vector<TimedRow> rows;
  std::string folder;  // what paths of its rows are meant from
};

struct TimedEstimate {
  const TimedRow* row = nullptr;
  double seconds = 0;

  double error() const { return seconds / row->seconds - 1; }
};

struct TimeStatistics {
  double n = 0;
  std::optional<double> median, p90, signed_mean;  // of errors: the first two without their signs
  double pairs = 0;                                // of rows that are ranked among each other, and differ
  std::optional<double> kendall_tau;               // of those pairs: rightly ordered less wrongly ordered

  std::optional<double> value(TimeStatistic statistic) const;
};

/// Throw Error{bad_value} and Error{unknown_name}.
TimesInfo read_times_info(const Value& value, const std::string& where);
TimedRow read_timed_row(const Value& value, const std::string& where);

TimeStatistics time_statistics(const std::vector<TimedEstimate>& all);
/// "gpu", "group", "model": what bars and tables name.
std::string time_field(const TimedRow& row, const std::string& name, const std::string& where);
bool is_meant(const TimeBar& bar, const TimedRow& row, const std::string& where);

template <class Self, class Visit>
void TimeBar::fields(Self& self, Visit&& visit) {
  visit("where", self.where, FieldInfo{.help = "The rows that are meant: gpu, group or model (empty: all rows)"});
  visit("statistic", self.statistic, FieldInfo{.help = "What is claimed of", .names = kTimeStatisticNames});
  visit("limit", self.limit, FieldInfo{.help = "Fractions for errors"});
  visit("at", self.at, FieldInfo{.help = "On which side of the limit it is met", .names = kAtNames});
  visit("why", self.why, FieldInfo{.help = "Where the bar comes from"});
}

template <class Self, class Visit>
void TimedRow::fields(Self& self, Visit&& visit) {
  visit("id", self.id, FieldInfo{.help = "Unique in its corpus"});
  visit("source", self.source, FieldInfo{.help = "repo@commit file, and where in it"});
  visit("model", self.model, FieldInfo{.help = "As the source names it"});
  visit("gpu", self.gpu, FieldInfo{.help = "A name that --gpu knows"});
  visit("group", self.group, FieldInfo{.help = "What bars tell apart, such as one node from several"});
  visit("seconds", self.seconds, FieldInfo{.help = "Of one optimizer step", .low = 0, .high = 1e6});
  visit("network_bytes_per_s", self.network_bytes_per_s,
        FieldInfo{.help = "One direction of one GPU's port to other nodes, as the source states it (0: not stated)",
                  .low = 0,
                  .high = 1e13});
  visit("kernels", self.kernels,
        FieldInfo{.help = "A row of data/efficiency.json, where other kernels ran than the card has today"});
  visit("parts_between_stages", self.parts_between_stages,
        FieldInfo{.help = "Ranks that share matrices each send a part to the next stage, and gather the rest"});
  visit("spec", self.spec, FieldInfo{.help = "What was trained"});
  visit("ranked_among", self.ranked_among,
        FieldInfo{.help = "Rows of the same text are ways to train the same, of which a plan chooses"});
  visit("ranked_alone", self.ranked_alone,
        FieldInfo{.help = "Its place among them is scored, and not its seconds: what they depend on is not stated"});
  visit("left_out", self.left_out, FieldInfo{.help = "Why it cannot be scored: what the source does not say"});
}

template <class Self, class Visit>
void TimesInfo::fields(Self& self, Visit&& visit) {
  visit("schema", self.schema, FieldInfo{.help = "tidemark.step-times/1"});
  visit("name", self.name, FieldInfo{.help = "Short"});
  visit("title", self.title, FieldInfo{.help = "One line"});
  visit("source", self.source, FieldInfo{.help = "Whose measurements, and where they are published"});
  visit("bars", self.bars, FieldInfo{.help = "What is claimed; the exit code is 1 when one is missed"});
}

}  // namespace tidemark
