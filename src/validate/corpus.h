// A corpus: measured trainings of one source, the bars that they hold Tidemark to, and the answers of `run` that are
// stored with them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "estimate/report.h"
#include "validate/measurement.h"
#include "validate/statistics.h"

namespace tidemark {

inline constexpr const char* kCorpusSchema = "tidemark.corpus/1";

inline constexpr std::array<std::string_view, 2> kEngineNames{"run", "predict"};
enum class Engine { run, predict };
inline constexpr std::array<std::string_view, 2> kAtNames{"most", "least"};
enum class At { most, least };

/// What is claimed of one engine's answers on some of the rows.
struct Bar {
  Engine engine = Engine::run;
  std::map<std::string, std::string> where = {};  // fields of the rows that are meant, and their values
  Statistic statistic = Statistic::median;
  double limit = 0;
  At at = At::most;
  std::string why = {};

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// What `run` needs for some of the rows.
struct NeededEnvironment {
  std::string python;                            // the environment variable that names its interpreter
  std::string requirements;                      // what is installed there, for whoever has to make it
  std::map<std::string, std::string> variables;  // set for the run: name, and the variable that holds the value

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// corpus.json
struct CorpusInfo {
  std::string schema, name, title, source;
  std::vector<Bar> bars;
  std::map<std::string, NeededEnvironment> environments;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// What an engine said of a row; a line of predictions.jsonl.
struct Answer {
  std::string id;
  Engine engine = Engine::run;
  std::optional<std::int64_t> allocated_bytes, active_bytes, reserved_bytes, device_bytes, device_over_start_bytes;
  std::optional<std::int64_t> in_use_at_start_bytes;  // by the program itself, when the measuring began; none: 0
  std::map<std::string, std::int64_t> lowest_bytes, highest_bytes;  // by metric, where more than one answer is true
  bool out_of_memory = false;
  std::map<std::string, std::string> versions;
  double seconds = 0;

  /// Nothing for a metric that the engine does not tell.
  std::optional<std::int64_t> bytes(Metric metric) const;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

struct Corpus {
  CorpusInfo info;
  std::vector<Measurement> rows;
  std::vector<Answer> stored;
  std::string folder;  // what paths of its rows are meant from
};

/// A map without the keys that null stands for.  Throws Error{bad_value} for what is no map.
Value without_nulls(const Value& value, const std::string& where);

/// All of them throw Error{bad_value} and Error{unknown_name}.
CorpusInfo read_corpus_info(const Value& value, const std::string& where);
Answer read_answer(const Value& value, const std::string& where);
/// That ids are unique, and that every stored answer is one of a row that `run` can be asked.
void check_corpus(const Corpus& corpus);

/// What a report says of `row`.
Answer answer_of(const Report& report, const Measurement& row);
/// The measuring began where the program that `start` reports on ends, or earlier: to the allocation that is not known,
/// so the interval of device_over_start reaches to a start before the program had anything.
void leave_out_start(Answer& answer, const Report& start);

template <class Self, class Visit>
void Bar::fields(Self& self, Visit&& visit) {
  visit("engine", self.engine, FieldInfo{.help = "Whose answers are meant", .names = kEngineNames});
  visit("where", self.where, FieldInfo{.help = "The rows that are meant: fields and their values (empty: all rows)"});
  visit("statistic", self.statistic, FieldInfo{.help = "What is claimed of", .names = kStatisticNames});
  visit("limit", self.limit, FieldInfo{.help = "Fractions for errors, bytes for mcp_bytes"});
  visit("at", self.at, FieldInfo{.help = "On which side of the limit it is met", .names = kAtNames});
  visit("why", self.why, FieldInfo{.help = "Where the bar comes from"});
}

template <class Self, class Visit>
void NeededEnvironment::fields(Self& self, Visit&& visit) {
  visit("python", self.python, FieldInfo{.help = "The environment variable that names its interpreter"});
  visit("requirements", self.requirements, FieldInfo{.help = "What is installed there"});
  visit("variables", self.variables,
        FieldInfo{.help = "Set for the run: a name, and the environment variable that holds the value"});
}

template <class Self, class Visit>
void CorpusInfo::fields(Self& self, Visit&& visit) {
  visit("schema", self.schema, FieldInfo{.help = "tidemark.corpus/1", .group = "corpus.json"});
  visit("name", self.name, FieldInfo{.help = "Short, as --by corpus shows it", .group = "corpus.json"});
  visit("title", self.title, FieldInfo{.help = "One line", .group = "corpus.json"});
  visit("source", self.source,
        FieldInfo{.help = "Whose measurements, and where they are published", .group = "corpus.json"});
  visit("bars", self.bars,
        FieldInfo{.help = "What is claimed; the exit code is 1 when one is missed", .group = "corpus.json"});
  visit("environments", self.environments,
        FieldInfo{.help = "What rows need to be run, by name", .group = "corpus.json"});
}

template <class Self, class Visit>
void Answer::fields(Self& self, Visit&& visit) {
  visit("id", self.id, FieldInfo{.help = "Of the row", .group = "predictions.jsonl"});
  visit("engine", self.engine,
        FieldInfo{.help = "Whose answer it is", .group = "predictions.jsonl", .names = kEngineNames});
  const FieldInfo peak{.help = "The peak; null: not told", .group = "predictions.jsonl"};
  visit("allocated_bytes", self.allocated_bytes, peak);
  visit("active_bytes", self.active_bytes, peak);
  visit("reserved_bytes", self.reserved_bytes, peak);
  visit("device_bytes", self.device_bytes, peak);
  visit("device_over_start_bytes", self.device_over_start_bytes, peak);
  visit(
      "in_use_at_start_bytes", self.in_use_at_start_bytes,
      FieldInfo{.help = "What the program had of the device when the measuring began: device_over_start leaves it out "
                        "(null: nothing)",
                .group = "predictions.jsonl",
                .low = 0});
  visit("lowest_bytes", self.lowest_bytes,
        FieldInfo{.help = "By metric, where more than one answer is true", .group = "predictions.jsonl"});
  visit("highest_bytes", self.highest_bytes, FieldInfo{.help = "Likewise", .group = "predictions.jsonl"});
  visit("out_of_memory", self.out_of_memory,
        FieldInfo{.help = "Whether it foretells that; peaks are then those until there", .group = "predictions.jsonl"});
  visit("versions", self.versions, FieldInfo{.help = "What it was run with", .group = "predictions.jsonl"});
  visit("seconds", self.seconds, FieldInfo{.help = "That it took", .group = "predictions.jsonl", .low = 0});
}

}  // namespace tidemark
