// tidemark estimate-memory: what `accelerate estimate-memory` is asked, answered by predictions.
// accelerate: commands/estimate.py, estimate_command_parser (1.15.0)
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/did_you_mean.h"
#include "base/error.h"
#include "card_choice.h"
#include "commands.h"
#include "cudnn_asked.h"
#include "estimate/predict.h"
#include "io/text_table.h"
#include "io/value_json.h"
#include "memory/driver_memory.h"
#include "resources.h"

namespace tidemark::cli {
namespace {

struct WeightType {
  const char* name;
  Value (*keys)();  // of a spec
  bool trains_all;
};

Value with_adapters(Value quantization) {
  return Value::Map{{"method", "lora"}, {"quantization", std::move(quantization)}};
}

const WeightType kTypes[] = {
    {"float32", [] { return Value(Value::Map{{"dtype", "fp32"}}); }, true},
    {"float16", [] { return Value(Value::Map{{"dtype", "fp16"}}); }, true},
    {"bfloat16", [] { return Value(Value::Map{{"dtype", "bf16"}}); }, true},
    {"int8", [] { return with_adapters(Value::Map{{"load_in_8bit", true}}); }, false},
    {"int4",
     [] {
       return with_adapters(Value::Map{{"quant_type", "nf4"}, {"use_double_quant", true}, {"compute_dtype", "bf16"}});
     },
     false},
};

const WeightType& weight_type(const std::string& name) {
  std::vector<std::string> names;
  for (const WeightType& type : kTypes) {
    if (type.name == name) return type;
    names.emplace_back(type.name);
  }
  const std::string near = did_you_mean(name, names);
  throw Error(Errc::unknown_name, fmt::format("\"{}\" is no type of weights", name), "--dtypes",
              near.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : near);
}

struct Row {
  const WeightType* type;
  NamedBytes layer;              // the largest
  std::int64_t total_bytes = 0;  // loaded, adapters excluded
  Report training;
  std::string refused;  // why it is not predicted
};

/// "model.layers.0" of "model.layers.0.mlp.up_proj": the layers of a list are not split.
std::string layer_of(const std::string& module) {
  for (std::size_t at = 0; at < module.size(); at = module.find('.', at) + 1) {
    const std::size_t end = std::min(module.find('.', at), module.size());
    const std::string_view part(module.data() + at, end - at);
    if (std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); }))
      return module.substr(0, end);
    if (end == module.size()) break;
  }
  return module;
}

void take_sizes(const std::vector<NamedBytes>& modules, Row& row) {
  std::map<std::string, std::int64_t> layers;
  for (const NamedBytes& module : modules) {
    if (module.name.find(".lora_") != std::string::npos) continue;
    row.total_bytes += module.bytes;
    layers[layer_of(module.name)] += module.bytes;
  }
  for (const auto& [name, bytes] : layers)
    if (bytes > row.layer.bytes) row.layer = {name, bytes};
}

Asked asked_about(const EstimateMemoryOptions& options, const WeightType& type) {
  SpecOptions spec;
  spec.config = options.model;
  spec.offline = options.offline;
  spec.said = merged(
      Value::Map{{"optimizer", "adam"}, {"batch", options.batch}, {"seq", options.seq}, {"images", options.images}},
      type.keys());
  return read_asked(spec);
}

Row row_of(const EstimateMemoryOptions& options, const WeightType& type, const Card& card) {
  Row row{.type = &type, .layer = {}, .total_bytes = 0, .training = {}, .refused = {}};
  Asked asked = asked_about(options, type);
  try {
    capture_unknown(asked);
    std::vector<NamedBytes> modules;
    const PredictOptions how{.on_event = {},
                             .interval = false,
                             .programs = *asked.programs,
                             .ask_cudnn = cudnn_of(asked.spec, card),
                             .loaded = &modules};
    row.training = predict(asked.spec, asked.model_config, card, how);
    take_sizes(modules, row);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    row.refused = error.message();
  }
  for (const std::string& assumption : asked.assumptions) row.training.assumptions.push_back({assumption, {}});
  return row;
}

/// One that holds any training.
Card unlimited(const std::string& gpu) {
  Card card = choose_card(gpu, "", find_resources().data);
  card.total_bytes = DriverMemory::kMostBytes;
  return card;
}

std::vector<std::string> assumptions_of(const EstimateMemoryOptions& options, const std::vector<Row>& rows) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& text) {
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  };
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.type->trains_all; }))
    add("for int8 and int4 the adapters of `--method lora` are trained; int4 is nf4 with double quantization, and modules "
        "that are not quantized are bfloat16");
  if (options.trusts_remote_code) add("no code of the hub is run: --trust_remote_code changes nothing");
  for (const Row& row : rows)
    for (const Assumption& one : row.training.assumptions)
      if (!one.what.starts_with("method ")) add(one.what);
  return all;
}

std::string estimate_text(const EstimateMemoryOptions& options, const std::vector<Row>& rows, const Card& card) {
  std::string text = fmt::format("Memory of `{}`\n", options.model);
  io::TextTable table({"dtype", "Largest Layer", "Total Size", "Training using Adam"});
  for (const Row& row : rows)
    if (row.refused.empty())
      table.add({row.type->name, format_bytes(row.layer.bytes), format_bytes(row.total_bytes),
                 format_bytes(row.training.peak.device_bytes)});
    else
      table.add({row.type->name, "N/A", "N/A", "N/A"});
  text += table.text(2);
  const auto known = std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.refused.empty(); });
  text += fmt::format("  largest layer: {} ({}, {} bytes)\n", known->layer.name, known->type->name,
                      group_digits(known->layer.bytes));
  text += fmt::format("  training: batch {}, the peak on a {} with its context, without checkpointing\n", options.batch,
                      card.name);
  for (const Row& row : rows)
    if (!row.refused.empty()) text += fmt::format("  {}: {}\n", row.type->name, row.refused);
  for (const std::string& assumption : assumptions_of(options, rows))
    text += fmt::format("  assumed: {}\n", assumption);
  return text + fmt::format("  does it fit: tidemark predict {} --gpu {}\n", options.model, card.key);
}

Value estimate_value(const EstimateMemoryOptions& options, const std::vector<Row>& rows, const Card& card) {
  Value::List list, assumptions;
  for (const Row& row : rows) {
    Value one = Value::Map{{"dtype", row.type->name}};
    if (row.refused.empty()) {
      const Peak& peak = row.training.peak;
      one.set("largest_layer", Value::Map{{"name", row.layer.name}, {"bytes", row.layer.bytes}});
      one.set("total_bytes", row.total_bytes);
      one.set("trained", row.type->trains_all ? "all" : "adapters");
      one.set("training_peak", Value::Map{{"allocated_bytes", peak.allocated_bytes},
                                          {"reserved_bytes", peak.reserved_bytes},
                                          {"device_bytes", peak.device_bytes}});
    } else {
      one.set("refused", row.refused);
    }
    list.push_back(std::move(one));
  }
  for (std::string& one : assumptions_of(options, rows)) assumptions.emplace_back(std::move(one));
  return Value::Map{{"schema", "tidemark.estimate_memory/1"},
                    {"model", options.model},
                    {"gpu", card.key},
                    {"batch", options.batch},
                    {"rows", std::move(list)},
                    {"assumptions", std::move(assumptions)}};
}

}  // namespace

void add_estimate_memory(CLI::App& app, EstimateMemoryOptions& options) {
  CLI::App* command = app.add_subcommand(
      "estimate-memory", "Sizes of a model by type, and its training with Adam, as `accelerate estimate-memory` asks.");
  command->footer(
      "Example:\n  tidemark estimate-memory meta-llama/Llama-3.1-8B --dtypes float16 int4 --batch 4 --seq 4096");
  command->add_option("model_name", options.model, "The model: a name on the hub, its config.json, or its folder")
      ->required()
      ->type_name("MODEL");
  command->add_option("--library_name", options.library, "The library of the model: transformers")->type_name("NAME");
  command->add_option("--dtypes", options.dtypes, "float32, float16, bfloat16, int8, int4 [all but bfloat16]")
      ->expected(1, 5)
      ->type_name("NAMES");
  command->add_flag("--trust_remote_code", options.trusts_remote_code, "Accepted; no code of the hub is run");
  const auto count = [&](const char* name, std::int64_t& value, std::int64_t low, const char* help) {
    command->add_option(name, value, help)
        ->check(CLI::Range(low, std::int64_t{1} << 20).description(""))
        ->type_name("N")
        ->group("Training");
  };
  count("--batch", options.batch, 1, "Samples per step [1]");
  count("--seq", options.seq, 0, "Tokens per sample (0: 2048, or the model's limit) [0]");
  count("--images", options.images, 0, "Images per sample [0]");
  command->add_option("--gpu", options.gpu, "The card whose context and kernels count [h100-80gb]")
      ->type_name("NAME")
      ->group("Training");
  command->add_flag("--offline", options.offline, "Do not ask the hub");
  command->add_flag("--json", options.json, "As JSON, to the byte");
}

int estimate_memory(const EstimateMemoryOptions& options) {
  if (!options.library.empty() && options.library != "transformers")
    throw Error(options.library == "timm" ? Errc::unsupported : Errc::unknown_name,
                fmt::format("models of {} have no config.json that is read", options.library), "--library_name",
                "a module of any library: tidemark predict --from model.py:function");
  std::vector<std::string> names = options.dtypes;
  if (names.empty()) names = {"float32", "float16", "int8", "int4"};
  std::vector<const WeightType*> types;
  for (const std::string& name : names) types.push_back(&weight_type(name));
  const Card card = unlimited(options.gpu);
  std::vector<Row> rows;
  for (const WeightType* type : types) rows.push_back(row_of(options, *type, card));
  if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.refused.empty(); }))
    throw Error(Errc::unsupported, rows.front().refused, options.model);
  fmt::print(
      "{}", options.json ? io::value_to_json(estimate_value(options, rows, card)) : estimate_text(options, rows, card));
  return 0;
}

}  // namespace tidemark::cli
