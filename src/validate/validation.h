// Rows, the answers to them, and what follows: groups, bars, and what was left out and why.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "validate/corpus.h"
#include "validate/statistics.h"

namespace tidemark {

/// What came of asking one engine for one row: an answer, or the reason why there is none.
struct Outcome {
  std::optional<Answer> answer;
  std::string reason;
  bool failed = false;  // it was asked, and ended otherwise than by an answer
};

/// A row that an engine has answered.
struct Prediction {
  const Corpus* corpus = nullptr;
  const Measurement* row = nullptr;
  Answer answer;
  Scored scored;
};

struct LeftOut {
  std::string corpus, id, reason;
  std::optional<Engine> engine;  // nothing: no engine can be asked
  bool failed = false;
};

struct Group {
  std::vector<std::string> values;  // of the fields that rows are grouped by
  Statistics statistics;
  std::map<std::string, Statistics> rivals;  // by estimator, over its estimates of the same rows
};

struct EngineResult {
  Engine engine = Engine::run;
  bool stored = false;  // the answers were not made now
  std::vector<Prediction> predictions;
  std::vector<Group> groups;
  Group total;
};

struct BarResult {
  std::string corpus;
  Bar bar;
  std::optional<double> value;  // nothing when no row counts
  bool met = false;
};

struct Validation {
  std::vector<std::string> by;
  std::vector<const Corpus*> corpora;
  std::vector<EngineResult> engines;
  std::vector<BarResult> bars;
  std::vector<LeftOut> left_out;
  std::map<std::string, std::string> versions;

  bool bar_missed() const;
  bool run_failed() const;
};

/// Outcomes by engine, of the rows of every corpus in their order.  `judge_bars` is false where only some of the rows
/// were asked for.  The corpora must outlive the result.
class Validator {
 public:
  Validator(std::vector<std::string> by, bool judge_bars) : judge_bars_(judge_bars) { result_.by = std::move(by); }

  /// Rows that no engine can be asked are noted once.
  void add_corpus(const Corpus& corpus);
  void begin_engine(Engine engine, bool stored);
  /// `card_bytes` is the whole memory of the row's card.
  void add(const Corpus& corpus, const Measurement& row, std::int64_t card_bytes, Outcome outcome);
  Validation finish();

 private:
  void add_groups(EngineResult& engine) const;
  void add_bars(const EngineResult& engine);

  Validation result_;
  bool judge_bars_;
};

}  // namespace tidemark
