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

  static void fields(Bar& self, const FieldVisitor& visit);
};

/// What `run` needs for some of the rows.
struct NeededEnvironment {
  std::string python;                            // the environment variable that names its interpreter
  std::string requirements;                      // what is installed there, for whoever has to make it
  std::map<std::string, std::string> variables;  // set for the run: name, and the variable that holds the value

  static void fields(NeededEnvironment& self, const FieldVisitor& visit);
};

/// corpus.json
struct CorpusInfo {
  std::string schema, name, title, source;
  std::vector<Bar> bars;
  std::map<std::string, NeededEnvironment> environments;

  static void fields(CorpusInfo& self, const FieldVisitor& visit);
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

  static void fields(Answer& self, const FieldVisitor& visit);
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

}  // namespace tidemark
