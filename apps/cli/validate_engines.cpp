#include "validate_engines.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/in_parallel.h"
#include "card_choice.h"
#include "estimate/predict.h"
#include "estimate/releases.h"
#include "files.h"
#include "io/report_json.h"
#include "outcome.h"
#include "process.h"
#include "run_folder.h"
#include "spec_options.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// The same error, said of a row.
Error of_row(const Error& error, const Measurement& row) {
  const std::string inner =
      error.where().starts_with(row.where) ? error.where().substr(row.where.size()) : ": " + error.where();
  return {error.code(), error.message(), name_of_row(row) + (error.where().empty() ? "" : inner), error.hint()};
}

void check_agreement(const Spec& spec, const Measurement& row) {
  const auto refuse = [&](const std::string& what) { throw Error(Errc::bad_value, what, row.where + ": predict"); };
  if (spec.gpus != row.n_gpus) refuse(fmt::format("it says {} GPUs, and the row {}", spec.gpus, row.n_gpus));
  if (spec.rank != row.rank) refuse(fmt::format("it says rank {}, and the row {}", spec.rank, row.rank));
  if (!spec.gpu.empty() && spec.gpu != row.gpu)
    refuse(fmt::format("it says the card {}, and the row {}", spec.gpu, row.gpu));
}

Outcome no_answer(std::string reason) { return {.answer = std::nullopt, .reason = std::move(reason)}; }

Outcome unsupported(const Error& error) {
  return no_answer(error.where().empty() ? error.message() : error.where() + ": " + error.message());
}

/// What was measured, unless the question says another.
void take_version(const Measurement& row, const char* package, std::string& version) {
  const auto measured = row.versions.find(package);
  if (version.empty() && measured != row.versions.end() && is_version(measured->second)) version = measured->second;
}

/// Of the transformers that was measured.
void take_program(const Measurement& row, Asked& question) {
  const Value* type = question.model_config.find("model_type");
  const std::string* name = type ? type->as_text() : nullptr;
  if (!name) return;
  take_version(row, "transformers", question.spec.transformers);
  capture_unknown(question);
}

/// Reads what a row asks; nothing when predict() can be called, else the outcome.
std::optional<Outcome> read_question(const AskedRow& asked, Asked& question) {
  const Measurement& row = *asked.row;
  if (row.predict.is_null()) return no_answer(row.predict_reason);
  const std::string where = row.where + ": predict";
  try {
    question = read_asked(row.predict, asked.corpus->folder, where);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw of_row(error, row);
    return no_answer(error.message());
  }
  check_agreement(question.spec, row);
  take_version(row, "torch", question.spec.torch);
  try {
    take_program(row, question);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw of_row(error, row);
    return unsupported(error);
  }
  return std::nullopt;
}

Outcome predicted(const AskedRow& asked, const Asked& question) {
  try {
    return {.answer = answer_of(predict(question.spec, question.model_config, asked.card,
                                        {.on_event = {}, .programs = *question.programs}),
                                *asked.row),
            .reason = {}};
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw of_row(error, *asked.row);
    return unsupported(error);
  }
}

}  // namespace

std::vector<AskedRow> asked_rows(const Corpus& corpus, const std::string& only, const fs::path& data) {
  std::vector<AskedRow> rows;
  for (const Measurement& row : corpus.rows) {
    if (row.left_out || row.id.find(only) == std::string::npos) continue;
    const std::string memory = row.memory_bytes ? fmt::format("{}", *row.memory_bytes) : "";
    const bool is_file = row.gpu.ends_with(".json");
    const std::string gpu = is_file ? fs::absolute(fs::path(corpus.folder) / row.gpu).string() : row.gpu;
    try {
      rows.push_back({&corpus, &row, gpu, choose_card(gpu, memory, data)});
    } catch (const Error& error) {
      throw of_row(error, row);
    }
  }
  return rows;
}

std::vector<Outcome> predict_rows(const std::vector<AskedRow>& rows) {
  std::vector<Outcome> outcomes(rows.size());
  std::vector<Asked> questions(rows.size());
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (auto outcome = read_question(rows[i], questions[i]))
      outcomes[i] = std::move(*outcome);
    else
      asked.push_back(i);
  }
  in_parallel(asked.size(),
              [&](std::size_t i) { outcomes[asked[i]] = predicted(rows[asked[i]], questions[asked[i]]); });
  return outcomes;
}

std::vector<Outcome> stored_outcomes(const std::vector<AskedRow>& rows) {
  std::vector<Outcome> outcomes;
  for (const AskedRow& asked : rows) {
    const std::vector<Answer>& stored = asked.corpus->stored;
    const auto found =
        std::find_if(stored.begin(), stored.end(), [&](const Answer& a) { return a.id == asked.row->id; });
    if (found != stored.end())
      outcomes.push_back({.answer = *found, .reason = {}});
    else
      outcomes.push_back(no_answer(asked.row->run ? "no answer is stored" : asked.row->run_reason));
  }
  return outcomes;
}

namespace {

/// Why a row's program has no report.
struct Unanswered {
  std::string why;
};

struct RunCommand {
  std::vector<std::string> command, start;  // the program, and to where the measuring began, if that is later
  Environment environment;
};

/// Which interpreter, and which variables, a row's environment stands for.
class Environments {
 public:
  Environments(const RunnerOptions& options, const Environment& own) : options_(options), own_(own) {}

  std::pair<std::string, Environment> of(const AskedRow& asked) const {
    const std::string& name = asked.row->run->environment;
    const auto& known = asked.corpus->info.environments;
    const auto found = known.find(name);
    const NeededEnvironment needed = found == known.end() ? NeededEnvironment() : found->second;
    Environment environment = own_;
    for (const auto& [variable, holder] : needed.variables) {
      const auto value = own_.get(holder);
      if (!value) missing(asked, fmt::format("{} is not set", holder), needed);
      environment.set(variable, *value);
    }
    const auto given = options_.pythons.find(name);
    if (given != options_.pythons.end()) return {given->second, environment};
    const std::string variable = needed.python.empty() ? usual_variable(name) : needed.python;
    if (const auto python = own_.get(variable)) return {*python, environment};
    if (name.empty()) return {"python", environment};
    missing(asked, fmt::format("{} does not name a Python", variable), needed);
  }

 private:
  /// "torch-2.6" is named by TIDEMARK_PYTHON_TORCH_2_6.
  static std::string usual_variable(const std::string& name) {
    std::string variable = name.empty() ? "TIDEMARK_PYTHON" : "TIDEMARK_PYTHON_";
    for (const char c : name)
      variable += std::isalnum(static_cast<unsigned char>(c))
                      ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                      : '_';
    return variable;
  }

  [[noreturn]] static void missing(const AskedRow& asked, const std::string& what, const NeededEnvironment& needed) {
    const std::string& name = asked.row->run->environment;
    throw Error(Errc::not_found, fmt::format("the environment \"{}\" is not there: {}", name, what),
                name_of_row(*asked.row),
                needed.requirements.empty()
                    ? fmt::format("name its Python: --python {}=PATH", name)
                    : fmt::format("it has {}; name its Python: --python {}=PATH", needed.requirements, name));
  }

  const RunnerOptions& options_;
  const Environment& own_;
};

RunCommand command_of(const AskedRow& asked, const Environments& environments) {
  const Measurement& row = *asked.row;
  const fs::path script = fs::absolute(fs::path(asked.corpus->folder) / row.run->script);
  std::error_code error;
  if (!fs::is_regular_file(script, error))
    throw Error(Errc::not_found, fmt::format("the script {} is not there", script.string()),
                name_of_row(row) + ": run.script");
  auto [python, environment] = environments.of(asked);
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  std::vector<std::string> command{self.string(), "run", "--quiet", "--gpu", asked.gpu};
  const auto add = [&](std::initializer_list<std::string> words) { command.insert(command.end(), words); };
  if (row.memory_bytes) add({"--memory", fmt::format("{}", *row.memory_bytes)});
  if (row.n_gpus > 1) add({"--gpus", fmt::format("{}", row.n_gpus), "--rank", fmt::format("{}", row.rank)});
  command.insert(command.end(), row.run->options.begin(), row.run->options.end());
  add({"--json", "report.json", "--", python, script.string()});
  const auto with = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> whole = command;
    whole.insert(whole.end(), arguments.begin(), arguments.end());
    return whole;
  };
  std::vector<std::string> start;
  if (!row.run->start_arguments.empty()) start = with(row.run->start_arguments);
  return {with(row.run->arguments), std::move(start), std::move(environment)};
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "it said nothing";
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Throws Unanswered.
Report report_of_run(const std::vector<std::string>& command, const Environment& environment, const fs::path& folder) {
  fs::create_directory(folder);
  const Finished done = run_helper(command, environment, folder.string());
  std::error_code error;
  const bool may_have_reported = done.exit_code == 0 || done.exit_code == 1 || done.exit_code == kProgramFailed;
  if (!may_have_reported || !fs::exists(folder / "report.json", error))
    throw Unanswered{fmt::format("exit code {}: {}", done.exit_code, last_line(done.errors))};
  Report report = io::read_report(read_file(folder / "report.json"), "report.json");
  if (report.script.exit_code != 0 && !report.oom)
    throw Unanswered{
        fmt::format("the program ended with exit code {}: {}", report.script.exit_code, last_line(done.errors))};
  fs::remove_all(folder, error);
  return report;
}

Outcome outcome_of_run(const AskedRow& asked, const RunCommand& command, const fs::path& folder) try {
  Answer answer = answer_of(report_of_run(command.command, command.environment, folder), *asked.row);
  if (!command.start.empty()) leave_out_start(answer, report_of_run(command.start, command.environment, folder));
  return {.answer = std::move(answer), .reason = {}};
} catch (const Unanswered& unanswered) {
  return {std::nullopt, unanswered.why, true};
}

}  // namespace

std::vector<Outcome> run_rows(const std::vector<AskedRow>& rows, const RunnerOptions& options,
                              const Environment& environment) {
  const Environments environments(options, environment);
  std::vector<Outcome> outcomes(rows.size());
  std::vector<RunCommand> commands(rows.size());
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].row->run) {
      outcomes[i] = no_answer(rows[i].row->run_reason);
      continue;
    }
    commands[i] = command_of(rows[i], environments);
    asked.push_back(i);
  }
  const RunFolder folder(environment);
  std::mutex mutex;
  const auto run = [&](std::size_t i) {
    const std::size_t at = asked[i];
    Outcome outcome = outcome_of_run(rows[at], commands[at], folder.path() / fmt::format("row-{}", at));
    const std::lock_guard lock(mutex);
    if (options.on_outcome) options.on_outcome(rows[at], outcome);
    outcomes[at] = std::move(outcome);
  };
  in_parallel(asked.size(), run, options.jobs);
  return outcomes;
}

}  // namespace tidemark::cli
