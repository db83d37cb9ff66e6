#include "plan_vary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/number.h"
#include "card_choice.h"
#include "commands.h"
#include "files.h"
#include "io/value_json.h"
#include "plan/varied.h"
#include "plan/vary.h"
#include "plan_result.h"
#include "plan_trials.h"
#include "resources.h"
#include "run_folder.h"

namespace tidemark::cli {
namespace {

// Those of `run` that name files of one run, and what is said here in another way.
constexpr std::array<std::string_view, 6> kOfOneRun{"help", "json", "html", "csv", "snapshot", "quiet"};
constexpr std::array<std::string_view, 5> kOwn{"help", "vary", "jobs", "json", "quiet"};
constexpr std::size_t kUsualJobs = 2;

template <class Names>
bool is_among(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// `tidemark run` as it describes itself, so that an option of it that is new is passed on as well.
struct RunOptionsList {
  RunOptions values;
  CLI::App app;
  std::vector<const CLI::Option*> passed_on;

  RunOptionsList() {
    add_run(app, values);
    for (const CLI::Option* option : app.get_subcommand("run")->get_options())
      if (!is_among(kOfOneRun, option->get_single_name())) passed_on.push_back(option);
  }
};

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

CLI::Option* add_unless_there(CLI::App& command, const std::string& name, const std::string& what, bool flag) {
  if (command.get_option_no_throw(name)) return nullptr;
  CLI::Option* option = flag ? command.add_flag(name, what) : command.add_option(name);
  return option->description(what);
}

std::string last_of(const CLI::App& command, const char* name) {
  const std::vector<std::string>& results = command.get_option(name)->results();
  return results.empty() ? std::string() : results.back();
}

std::int64_t jobs_of(const std::string& text) {
  if (text.empty()) return 0;
  const auto jobs = parse_number<std::int64_t>(text);
  if (!jobs || *jobs < 1 || *jobs > 1024)
    throw Error(Errc::bad_value, fmt::format("\"{}\" is not a number of runs from 1 to 1024", text), "--jobs");
  return *jobs;
}

}  // namespace

void add_vary_options(CLI::App& plan_command) {
  if (CLI::Option* vary =
          add_unless_there(plan_command, "--vary",
                           "What {NAME} in the command stands for, once for each name: 1..64, "
                           "512..8192:512 (steps), 1..64*2 (factors), or a list, in the order in which memory grows",
                           false))
    vary->type_name("NAME=VALUES")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (CLI::Option* jobs =
          add_unless_there(plan_command, "--jobs", "Runs at a time (default: 2, where cores and memory allow)", false))
    jobs->type_name("N");
  const RunOptionsList run;
  for (const CLI::Option* option : run.passed_on) {
    CLI::Option* added =
        add_unless_there(plan_command, "--" + option->get_single_name(), option->get_description(), is_flag(*option));
    if (!added) continue;
    if (!is_flag(*option)) added->type_name(option->get_type_name());
    added->group("Each run of a command");
  }
}

void read_vary_options(const CLI::App& plan_command, std::vector<std::string> command, VaryOptions& options) {
  options.command = std::move(command);
  options.vary = plan_command.get_option("--vary")->results();
  options.jobs = jobs_of(last_of(plan_command, "--jobs"));
  options.json = last_of(plan_command, "--json");
  const RunOptionsList run;
  const auto of_run = [&](const std::string& name) {
    return std::any_of(run.passed_on.begin(), run.passed_on.end(),
                       [&](const CLI::Option* option) { return option->get_single_name() == name; });
  };
  for (const CLI::Option* option : plan_command.get_options()) {
    const std::string name = option->get_single_name();
    if (option->count() == 0 || is_among(kOwn, name)) continue;
    if (!of_run(name))
      throw Error(Errc::usage, fmt::format("{} has no meaning where a command is run", option->get_name()),
                  "tidemark plan", "what the program is told stands behind --");
    options.run_words.push_back("--" + name);
    if (!is_flag(*option)) options.run_words.push_back(option->results().back());
  }
}

namespace {

/// As `tidemark run` itself reads them, so that what is wrong with them is said before anything runs.
RunOptions read_run_options(const VaryOptions& options) {
  std::vector<std::string> words{"run"};
  words.insert(words.end(), options.run_words.begin(), options.run_words.end());
  words.insert(words.end(), {"--", "command"});
  return std::get<RunOptions>(parse_command_line(std::move(words)));
}

std::size_t jobs_at_once(const VaryOptions& options) {
  if (options.jobs > 0) return static_cast<std::size_t>(options.jobs);
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kUsualJobs);
}

void write_result(const SearchResult& result, const std::string& json) {
  fmt::print(json == "-" ? stderr : stdout, "{}", text_of(result));
  write_output(json, io::value_to_json(json_of(result)));
}

}  // namespace

int plan_vary(const VaryOptions& options) try {
  const std::vector<vary::Varied> varied = vary::read_all_varied(options.vary);
  vary::check_places(options.command, varied);
  const RunOptions run = read_run_options(options);
  const Card card = choose_card(run.gpu, run.memory, find_resources().data, run.link, run.windows);
  if (run.world.gpus > 1) check_link(card);
  require_writable(options.json, "--json");
  const Environment environment = Environment::of_this_process();
  const RunFolder folder(environment);
  vary::Question question{{}, card.total_bytes, jobs_at_once(options)};
  for (const vary::Varied& one : varied) question.sizes.push_back(one.sizes);
  Trials trials({options.run_words, options.command, varied, question.at_once,
                 !options.quiet && ::isatty(STDERR_FILENO) == 1, options.quiet},
                environment, folder.path());
  const vary::Found found =
      vary::find_largest(question, [&](const std::vector<vary::Point>& points) { return trials.run(points); });
  write_result({card, options.command, varied, found, trials.done()}, options.json);
  return found.largest.empty() ? 1 : 0;
} catch (const SearchEnded& ended) {
  return ended.exit_code;
}

}  // namespace tidemark::cli
