// tidemark validate: predictions beside measured trainings, how far they are off, and whether stated bars are met.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "card_choice.h"
#include "commands.h"
#include "corpus_files.h"
#include "files.h"
#include "io/corpus_json.h"
#include "io/validation_html.h"
#include "io/validation_json.h"
#include "io/validation_text.h"
#include "resources.h"
#include "validate_engines.h"
#include "validate_times.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

struct EngineChoice {
  Engine engine;
  bool stored;
};

const std::map<std::string, std::vector<EngineChoice>>& engine_choices() {
  static const std::map<std::string, std::vector<EngineChoice>> choices{
      {"recorded", {{Engine::run, true}, {Engine::predict, false}}},
      {"stored", {{Engine::run, true}}},
      {"predict", {{Engine::predict, false}}},
      {"run", {{Engine::run, false}}},
      {"both", {{Engine::run, false}, {Engine::predict, false}}}};
  return choices;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> group_by(const std::string& text) {
  const std::vector<std::string> fields = split(text);
  if (fields.empty()) throw Error(Errc::bad_value, "it names no field", "--by");
  for (const std::string& field : fields) check_group_field(field, "--by");
  return fields;
}

std::map<std::string, std::string> named_pythons(const std::vector<std::string>& given) {
  std::map<std::string, std::string> pythons;
  for (const std::string& one : given) {
    const std::size_t equals = one.find('=');
    pythons[equals == std::string::npos ? "" : one.substr(0, equals)] =
        equals == std::string::npos ? one : one.substr(equals + 1);
  }
  return pythons;
}

std::vector<Corpus> read_corpora(const ValidateOptions& options, const Resources& resources) {
  const io::Catalogue catalogue = load_catalogue(resources.data);
  const std::vector<std::string> paths =
      options.corpora.empty() ? installed_corpora(resources.validation) : options.corpora;
  std::vector<Corpus> corpora;
  for (const std::string& path : paths) corpora.push_back(read_corpus(path, options.spec, catalogue));
  for (std::size_t i = 0; i < corpora.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (corpora[i].info.name == corpora[j].info.name)
        throw Error(Errc::usage, fmt::format("two corpora are named \"{}\"", corpora[i].info.name), paths[i]);
  return corpora;
}

/// Puts a new answer into predictions.jsonl at once: a campaign takes hours, and may be stopped.
void store(Corpus& corpus, const Answer& answer) {
  std::erase_if(corpus.stored, [&](const Answer& old) { return old.id == answer.id; });
  corpus.stored.push_back(answer);
  const auto place = [&](const Answer& one) {
    return std::find_if(corpus.rows.begin(), corpus.rows.end(),
                        [&](const Measurement& row) { return row.id == one.id; });
  };
  std::stable_sort(corpus.stored.begin(), corpus.stored.end(),
                   [&](const Answer& a, const Answer& b) { return place(a) < place(b); });
  write_file(fs::path(corpus.folder) / "predictions.jsonl", io::write_answers(corpus.stored));
}

class AskedPredictions {
 public:
  AskedPredictions(const ValidateOptions& options, std::vector<Corpus>& corpora, const Resources& resources)
      : options_(options), corpora_(corpora) {
    for (const Corpus& corpus : corpora)
      for (AskedRow& row : asked_rows(corpus, options.only, resources.data)) rows_.push_back(std::move(row));
    if (rows_.empty() && !options.only.empty())
      throw Error(Errc::bad_value, fmt::format("no row that can be asked has \"{}\" in its id", options.only),
                  "--only");
  }

  std::vector<Outcome> ask(const EngineChoice& choice) {
    if (choice.stored) return stored_outcomes(rows_);
    if (choice.engine == Engine::predict) return predict_rows(rows_);
    RunnerOptions runner{
        .pythons = named_pythons(options_.pythons), .jobs = static_cast<std::size_t>(options_.jobs), .on_outcome = {}};
    const auto total =
        std::count_if(rows_.begin(), rows_.end(), [](const AskedRow& one) { return one.row->run.has_value(); });
    runner.on_outcome = [&, done = 0](const AskedRow& asked, const Outcome& outcome) mutable {
      fmt::print(stderr, "[{}/{}] {}: {}\n", ++done, total, asked.row->id, progress(asked, outcome));
      if (options_.update && outcome.answer) store(*owner(asked), *outcome.answer);
    };
    return run_rows(rows_, runner, Environment::of_this_process());
  }

  const std::vector<AskedRow>& rows() const { return rows_; }

 private:
  static std::string progress(const AskedRow& asked, const Outcome& outcome) {
    if (!outcome.answer) return outcome.reason;
    const auto bytes = outcome.answer->bytes(*asked.row->metric);
    const Scored scored{.measured_bytes = asked.row->measured_bytes,
                        .out_of_memory = asked.row->out_of_memory,
                        .predicted_bytes = bytes.value_or(0)};
    return outcome.answer->out_of_memory ? "out of memory"
           : bytes                       ? io::percent_text(signed_error(scored), true)
                                         : "not told";
  }

  Corpus* owner(const AskedRow& asked) {
    return &*std::find_if(corpora_.begin(), corpora_.end(), [&](const Corpus& one) { return &one == asked.corpus; });
  }

  const ValidateOptions& options_;
  std::vector<Corpus>& corpora_;
  std::vector<AskedRow> rows_;
};

Validation validated(const ValidateOptions& options, std::vector<Corpus>& corpora, const Resources& resources) {
  AskedPredictions asking(options, corpora, resources);
  Validator validator(group_by(options.by), options.only.empty());
  for (const Corpus& corpus : corpora) validator.add_corpus(corpus);
  for (const EngineChoice& choice : engine_choices().at(options.engine)) {
    std::vector<Outcome> outcomes = asking.ask(choice);
    validator.begin_engine(choice.engine, choice.stored);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const AskedRow& asked = asking.rows()[i];
      validator.add(*asked.corpus, *asked.row, asked.card.total_bytes, std::move(outcomes[i]));
    }
  }
  Validation validation = validator.finish();
  validation.versions.emplace("tidemark", version_text());
  return validation;
}

void check(const ValidateOptions& options, const std::vector<Corpus>& corpora) {
  require_writable(options.json, "--json");
  require_writable(options.html, "--html");
  if (!options.update) return;
  if (options.engine != "run" && options.engine != "both")
    throw Error(Errc::bad_value, "nothing is run, so there is nothing new to store", "--update", "add --engine run");
  std::error_code error;
  for (const Corpus& corpus : corpora)
    if (!fs::exists(fs::path(corpus.folder) / "corpus.json", error))
      throw Error(Errc::bad_value, fmt::format("{} is no folder with a corpus.json", corpus.info.name), "--update");
}

}  // namespace

void add_validate(CLI::App& app, ValidateOptions& options) {
  CLI::App* command =
      app.add_subcommand("validate", "Compare predictions with measured trainings, and say how far they are off.");
  command->footer(
      "Examples:\n  tidemark validate --by gpu,metric --rivals\n  tidemark validate mine.csv --html page.html\n"
      "  tidemark validate validation/xmem --engine run --python torch-2.6=PATH --update");
  command
      ->add_option("corpora", options.corpora,
                   "Folders with corpus.json, .jsonl, .csv, snapshots of PyTorch, reports (default: those that come "
                   "with Tidemark)")
      ->type_name("[CORPUS…]");
  std::vector<std::string> engines;
  for (const auto& [name, ignored] : engine_choices()) engines.push_back(name);
  command
      ->add_option(
          "--engine", options.engine,
          "Whose predictions: those of run are made now or as stored; recorded is stored and predict [recorded]")
      ->check(CLI::IsMember(engines).description(""))
      ->type_name("both|predict|recorded|run|stored");
  command->add_option("--by", options.by, "Fields that rows are grouped by [corpus,metric]")->type_name("FIELDS");
  command->add_option("--only", options.only, "Rows whose id holds this text; bars are not judged")->type_name("TEXT");
  command->add_option("--spec", options.spec, "What was trained, for snapshots and reports")->type_name("FILE");
  command->add_flag("--rivals", options.rivals, "Estimates of others on the same rows, side by side");
  command->add_flag("--step-times", options.step_times,
                    "Step times that `tidemark plan` estimates, in place of memory");
  command->add_flag("--left-out", options.left_out, "Every row without a prediction, and why");
  command->add_option("--json", options.json, "Write the result as JSON (- is stdout)")
      ->type_name("PATH")
      ->group("Output");
  command->add_option("--html", options.html, "Write the result as one HTML file")->type_name("PATH")->group("Output");
  command
      ->add_option("--python", options.pythons,
                   "The Python of an environment that rows name; without a name, of the rest")
      ->type_name("[NAME=]PATH")
      ->group("Runs");
  command->add_option("--jobs", options.jobs, "Runs at a time [2]")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N")
      ->group("Runs");
  command->add_flag("--update", options.update, "Store what the runs answer in predictions.jsonl")->group("Runs");
}

int validate(const ValidateOptions& options) {
  if (options.step_times) return validate_times(options);
  const Resources resources = find_resources();
  group_by(options.by);
  std::vector<Corpus> corpora = read_corpora(options, resources);
  check(options, corpora);
  const Validation validation = validated(options, corpora, resources);
  if (!options.json.empty() && options.json != "-") write_file(options.json, io::validation_to_json(validation));
  if (!options.html.empty()) write_file(options.html, io::validation_to_html(validation));
  fmt::print("{}", options.json == "-" ? io::validation_to_json(validation)
                                       : io::validation_to_text(validation, {options.rivals, options.left_out}));
  return validation.bar_missed() || validation.run_failed() ? 1 : 0;
}

}  // namespace tidemark::cli
