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

  static void fields(TimeBar& self, const FieldVisitor& visit);
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

  static void fields(TimedRow& self, const FieldVisitor& visit);
};

/// corpus.json
struct TimesInfo {
  std::string schema, name, title, source;
  std::vector<TimeBar> bars;

  static void fields(TimesInfo& self, const FieldVisitor& visit);
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

}  // namespace tidemark
