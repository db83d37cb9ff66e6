#include "plan_vary.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "commands.h"

namespace tidemark::cli {
namespace {

// Those of `run` that name files of one run, and what is said here in another way.
constexpr std::array<std::string_view, 6> kOfOneRun{"help", "json", "html", "csv", "snapshot", "quiet"};
constexpr std::array<std::string_view, 4> kOwn{"help", "vary", "jobs", "json"};

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

bool is_flag(const CLI::Option& option) { return option.get_type_size() == 0; }

CLI::Option* add_unless_there(CLI::App& command, const std::string& name, const std::string& what, bool flag) {
  if (command.get_option_no_throw(name)) return nullptr;
  CLI::Option* option = flag ? command.add_flag(name, what) : command.add_option(name);
  return option->description(what);
}

void add_text(CLI::App& command, const char* name, const char* type, const char* what) {
  if (CLI::Option* option = add_unless_there(command, name, what, false)) option->type_name(type);
}

std::string last_of(const CLI::App& command, const char* name) {
  const std::vector<std::string>& results = command.get_option(name)->results();
  return results.empty() ? std::string() : results.back();
}

std::int64_t jobs_of(const std::string& text) {
  std::int64_t jobs = 0;
  if (text.empty()) return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (error != std::errc() || end != text.data() + text.size() || jobs < 1 || jobs > 1024)
    throw Error(Errc::bad_value, fmt::format("\"{}\" is not a number of runs from 1 to 1024", text), "--jobs");
  return jobs;
}

}  // namespace

void add_vary_options(CLI::App& plan_command, VaryOptions&) {
  if (CLI::Option* vary =
          add_unless_there(plan_command, "--vary",
                           "What {NAME} in the command stands for, once for each name: 1..64, "
                           "512..8192:512 (steps), 1..64*2 (factors), or a list, in the order in which memory grows",
                           false))
    vary->type_name("NAME=VALUES")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_text(plan_command, "--jobs", "N", "Runs at a time (default: 2, where cores and memory allow)");
  add_text(plan_command, "--json", "PATH", "Write the result as JSON (- is stdout)");
  const RunOptionsList run;
  for (const CLI::Option* option : run.passed_on)
    if (CLI::Option* added = add_unless_there(plan_command, "--" + option->get_single_name(), option->get_description(),
                                              is_flag(*option)))
      if (!is_flag(*option)) added->type_name(option->get_type_name());
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

int plan_vary(const VaryOptions&) { throw Error(Errc::unsupported, "searching is not there yet", "tidemark plan"); }

}  // namespace tidemark::cli
