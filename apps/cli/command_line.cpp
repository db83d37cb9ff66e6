#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "commands.h"
#include "trainer_words.h"

namespace tidemark::cli {
namespace {

struct AllOptions {
  RunOptions run;
  PredictCommandOptions predict;
  ExplainOptions explain;
  DiffOptions diff;
  GpusOptions gpus;
  ModelsOptions models;
  OpsOptions ops;
  PlanOptions plan;
  ReportOptions report;
  PrepareOptions prepare;
  ValidateOptions validate;
  AnswerOptions answer;
  ServeOptions serve;
  McpOptions mcp;
  EstimateMemoryOptions estimate_memory;
  VersionOptions version;
};

// "tidemark run [OPTIONS] -- COMMAND …" where CLI11 would print "run [OPTIONS]".
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    if (!app->get_parent()) return "usage: tidemark COMMAND [OPTIONS]\n";
    std::string usage = "usage: tidemark " + app->get_name();
    for (const CLI::Option* option : app->get_options({}))
      if (option->get_positional()) usage += " " + option->get_type_name();
    const bool runs = app->get_name() == "run" || app->get_name() == "plan";
    return usage + " [OPTIONS]" + (runs ? " -- COMMAND …\n" : "\n");
  }
};

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string whole_name(const CLI::App& app) { return app.get_parent() ? "tidemark " + app.get_name() : app.get_name(); }

[[noreturn]] void refuse_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  throw Error(Errc::usage, fmt::format("there is no option {}", name), whole_name(app),
              did_you_mean(name, option_names(app)));
}

// `tidemark run [options] COMMAND …`: CLI11 stops at the first word that it does not know; that begins the command.
std::vector<std::string> command_of_run(const CLI::App& app, std::optional<std::vector<std::string>> after_dashes) {
  const std::vector<std::string> left = app.remaining();
  if (!left.empty() && left[0].starts_with('-')) refuse_option(app, left[0]);
  if (!after_dashes) return left;
  if (!left.empty())
    throw Error(Errc::usage, fmt::format("\"{}\" is not understood before --", left[0]), "tidemark run");
  return *after_dashes;
}

CommandLine chosen(const CLI::App& app, AllOptions& options, std::optional<std::vector<std::string>> after_dashes) {
  const auto used = app.get_subcommands();
  if (used.empty()) throw HelpRequest(app.help());
  const std::string name = used[0]->get_name();
  if (name == "run") {
    options.run.command = command_of_run(*used[0], std::move(after_dashes));
    check_run_options(options.run);
    return options.run;
  }
  if (name == "predict") return options.predict;
  if (name == "explain") return options.explain;
  if (name == "diff") return options.diff;
  if (name == "gpus") return options.gpus;
  if (name == "models") return options.models;
  if (name == "ops") return options.ops;
  if (name == "plan") {
    read_plan(*used[0], std::move(after_dashes), options.plan);
    return options.plan;
  }
  if (name == "report") return options.report;
  if (name == "prepare") return options.prepare;
  if (name == "validate") return options.validate;
  if (name == "answer") return options.answer;
  if (name == "serve") return options.serve;
  if (name == "mcp") return options.mcp;
  if (name == "estimate-memory") return options.estimate_memory;
  return options.version;
}

// CLI11's own texts, with the typing error named where one is likely.
[[noreturn]] void translate(const CLI::ParseError& error, const CLI::App& app, const std::vector<std::string>& words) {
  const auto used = app.get_subcommands();
  const CLI::App& at = used.empty() ? app : *used[0];
  for (const std::string& word : at.remaining())
    if (word.starts_with("--")) refuse_option(at, word);
  if (used.empty() && !words.empty() && !words[0].starts_with('-'))
    throw Error(Errc::usage, fmt::format("there is no command {}", words[0]), "tidemark",
                did_you_mean(words[0], command_names(app)));
  throw Error(Errc::usage, error.what(), whole_name(at), "--help shows how");
}

}  // namespace

CommandLine parse_command_line(std::vector<std::string> arguments) {
  AllOptions options;
  CLI::App app("How much GPU memory a training program needs, to the byte, without a GPU.", "tidemark");
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(26);
  app.formatter(formatter);
  app.set_version_flag("-V,--version", "", "Print the version and exit");
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n  tidemark run --gpu h100-80gb -- python train.py\n  tidemark predict config.json --batch 16 --gpu "
      "h100-80gb");
  add_run(app, options.run);
  add_predict(app, options.predict);
  add_explain(app, options.explain);
  add_diff(app, options.diff);
  add_gpus(app, options.gpus);
  add_models(app, options.models);
  add_ops(app, options.ops);
  add_plan(app, options.plan);
  add_report(app, options.report);
  add_prepare(app, options.prepare);
  add_validate(app, options.validate);
  add_answer(app, options.answer);
  add_serve(app, options.serve);
  add_mcp(app);
  add_estimate_memory(app, options.estimate_memory);
  app.add_subcommand("version", "Print the version.");

  // What follows `--` is the user's program and none of our business.
  std::optional<std::vector<std::string>> after_dashes;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    after_dashes.emplace(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  constexpr std::array<std::string_view, 3> kOfTrainings{"predict", "plan", "explain"};
  if (!arguments.empty() && std::find(kOfTrainings.begin(), kOfTrainings.end(), arguments[0]) != kOfTrainings.end())
    arguments = in_own_words(arguments);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // the order that CLI11 wants
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const auto used = app.get_subcommands();
    throw HelpRequest(used.empty() ? app.help() : used[0]->help());
  } catch (const CLI::CallForVersion&) {
    return options.version;
  } catch (const CLI::ParseError& error) {
    translate(error, app, arguments);
  }
  return chosen(app, options, std::move(after_dashes));
}

}  // namespace tidemark::cli
