// tidemark models and tidemark ops: what `predict` knows.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "bundled_models.h"
#include "commands.h"
#include "estimate/predict.h"
#include "io/text_table.h"
#include "io/value_json.h"
#include "shipped_program.h"

namespace tidemark::cli {
namespace {

void add_list(CLI::App& app, ListOptions& options, const char* name, const char* what) {
  app.add_subcommand(name, what)->add_flag("--json", options.json, "As JSON");
}

int print_bundled(bool json) {
  Value::List list;
  io::TextTable table({"name", "date", "source"}, io::TextTable::Align::left);
  for (const BundledModel& model : bundled_models()) {
    list.push_back(Value::Map{{"name", model.name}, {"date", model.date}, {"source", model.source}});
    table.add({model.name, model.date, model.source});
  }
  fmt::print("{}", json ? io::value_to_json(list) : table.text());
  return 0;
}

}  // namespace

void add_models(CLI::App& app, ModelsOptions& options) {
  add_list(app, options, "models", "List the models that predict knows, by the model_type of their config.json.");
  app.get_subcommand("models")->add_flag("--bundled", options.bundled,
                                         "Names on the hub whose configurations are bundled, instead of families");
}

int models(const ModelsOptions& options) {
  if (options.bundled) return print_bundled(options.json);
  Value::List list;
  io::TextTable table({"model_type", "heads"}, io::TextTable::Align::left);
  for (const auto& [type, heads] : shipped_model_types()) {
    list.push_back(Value::Map{{"model_type", type}, {"heads", Value::List(heads.begin(), heads.end())}});
    table.add({type, fmt::format("{}", fmt::join(heads, ", "))});
  }
  fmt::print("{}", options.json ? io::value_to_json(list) : table.text());
  return 0;
}

void add_ops(CLI::App& app, ListOptions& options) {
  add_list(app, options, "ops", "List the operations that predict simulates, and what each mirrors in PyTorch.");
}

int ops(const ListOptions& options) {
  Value::List list;
  io::TextTable table({"operation", "mirrors"}, io::TextTable::Align::left);
  for (const OpInfo& op : known_ops()) {
    list.push_back(Value::Map{{"name", op.name}, {"mirrors", op.mirrors}});
    table.add({op.name, op.mirrors});
  }
  fmt::print("{}", options.json ? io::value_to_json(list) : table.text());
  return 0;
}

}  // namespace tidemark::cli
