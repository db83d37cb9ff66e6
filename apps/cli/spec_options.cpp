#include "spec_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "active_python.h"
#include "base/error.h"
#include "bundled_models.h"
#include "captured_model.h"
#include "card_choice.h"
#include "estimate/releases.h"
#include "files.h"
#include "hub.h"
#include "io/hf_config.h"
#include "io/program_text.h"
#include "io/spec_yaml.h"
#include "io/training_arguments.h"
#include "io/value_json.h"
#include "program/family.h"
#include "shipped_program.h"

namespace tidemark::cli {
namespace {

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// "Samples per step and GPU [1]"; what is empty at first, or what the text itself explains, is not repeated.
std::string help_of(const FieldDescription& field) {
  const std::string* text = field.initial.as_text();
  const bool has_default = text ? !text->empty() : field.initial.as_integer() || field.initial.as_real();
  return has_default ? fmt::format("{} [{}]", field.info.help, text ? *text : field.initial.quoted())
                     : std::string(field.info.help);
}

class Adder {
 public:
  Adder(CLI::App& command, Value& said) : command_(command), said_(said) {}

  void add(const std::vector<FieldDescription>& fields, const std::string& prefix, const std::string& parent) {
    for (const FieldDescription& field : fields) {
      const std::string option = prefix + with_dashes(field.name);
      if (field.kind == FieldKind::any) continue;  // the model is an argument, not an option
      if (field.kind == FieldKind::map) {
        flag(field, "--" + option, Value::Map(), parent, field.info.group, field.info.help);
        flag(field, "--no-" + option, Value(), parent, "", kNone);
        add(field.fields, option + "-", field.name);
      } else if (field.kind == FieldKind::boolean) {
        // The help shows the one that changes something; the other is for changing a spec file back.
        const bool* initial = field.initial.as_bool();
        flag(field, "--" + option, true, parent, initial && *initial ? "" : field.info.group, field.info.help);
        flag(field, "--no-" + option, false, parent, initial && !*initial ? "" : field.info.group, field.info.negated);
      } else {
        value(field, "--" + option, parent);
        if (field.optional) flag(field, "--no-" + option, Value(), parent, "", kNone);
      }
    }
  }

 private:
  // What a file says is taken back so; plans print it where their answer has none of it.
  static constexpr std::string_view kNone = "None of what a file says";

  static void say(Value& said, const std::string& parent, const std::string& key, Value value) {
    Value change = Value::Map();
    if (parent.empty()) {
      change.set(key, std::move(value));
    } else {
      Value inner = Value::Map();
      inner.set(key, std::move(value));
      change.set(parent, std::move(inner));
    }
    said = merged(std::move(said), change);
  }

  void flag(const FieldDescription& field, const std::string& option, Value value, const std::string& parent,
            std::string_view group, std::string_view help) {
    const auto set = [&said = said_, parent, key = field.name, value] { say(said, parent, key, value); };
    command_.add_flag_callback(option, set, std::string(help))->group(std::string(group));
  }

  void value(const FieldDescription& field, const std::string& option, const std::string& parent) {
    const bool many = field.kind == FieldKind::list || field.kind == FieldKind::text_or_list;
    const auto read = [&said = said_, field, option, parent](const CLI::results_t& texts) {
      say(said, parent, field.name, value_from_text(field, fmt::format("{}", fmt::join(texts, ",")), option));
      return true;
    };
    const std::string type = field.info.names.empty() ? std::string(field.info.placeholder)
                                                      : fmt::format("{}", fmt::join(field.info.names, "|"));
    CLI::Option* added = command_.add_option(option, CLI::callback_t(read), help_of(field));
    added->type_name(type)->group(std::string(field.info.group));
    if (many) added->take_all();
  }

  CLI::App& command_;
  Value& said_;
};

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Paths in a file are meant from its folder, as in every build file; those of options from where we are.
void resolve_paths(Value& spec, const std::filesystem::path& folder) {
  const Value* model = spec.find("model");
  if (const std::string* path = model ? model->as_text() : nullptr)
    if (is_there(folder / *path) || !may_be_hub_name(*path)) spec.set("model", (folder / *path).string());
  const Value* generation = spec.find("generation_config");
  if (const std::string* path = generation ? generation->as_text() : nullptr)
    spec.set("generation_config", (folder / *path).string());
  const Value* gpu = spec.find("gpu");
  if (const std::string* path = gpu ? gpu->as_text() : nullptr; path && path->ends_with(".json"))
    spec.set("gpu", (folder / *path).string());
}

/// The file that `model` names: a config.json, the folder that holds it, or a model on the hub, whose file is noted.
std::filesystem::path model_file(const std::string& model, bool offline, Asked& asked) {
  const std::filesystem::path found = config_of_model(model, offline);
  if (is_there(model) || !may_be_hub_name(model)) return found;
  const auto bundled = bundled_model_at(found);
  asked.sources.emplace("model", bundled ? "bundled, of " + bundled->source : found.string());
  if (bundled)
    asked.assumptions.push_back(
        fmt::format("the configuration of {} is the bundled one of {}, not the hub's", model, bundled->date));
  return found;
}

/// The file that the spec names, or the one beside config.json.
void read_generation_config(Asked& asked) {
  Value& keys = asked.spec.generation_config;
  if (asked.spec.generate == 0 || keys.as_map()) return;
  const std::string* named = keys.as_text();
  const std::filesystem::path beside = asked.config_file.parent_path() / "generation_config.json";
  if (!named && (asked.config_file.empty() || !is_there(beside))) return;
  const std::string file = named ? *named : beside.string();
  keys = io::value_from_python_json(read_file(file), file);
  if (!keys.as_map()) fail_expected("a map", keys, {file, {}});
}

void take_programs(Asked& asked, answers::ProgramsOf programs_of) {
  asked.programs = programs_of(asked.spec);
  asked.programs_of = std::move(programs_of);
}

Asked asked_of(const Value& value, const std::string& where, bool offline) {
  Asked asked{.spec = read_spec(with_place(value), where),
              .model_config = {},
              .config_file = {},
              .programs_of = {},
              .programs = {},
              .sources = {},
              .assumptions = {}};
  take_programs(asked, answers::programs_as_they_are());
  const Value& model = asked.spec.model;
  if (model.as_map()) {
    io::check_hf_config(model, where + ": model");
    asked.model_config = model;
    read_generation_config(asked);
    return asked;
  }
  if (!model.as_text() || model.as_text()->empty())
    throw Error(
        Errc::usage, "which model? CONFIG is missing", {},
        "name a config.json, the folder that holds it, a model on the hub, or a --spec file with a key \"model\"");
  const std::filesystem::path path = model_file(*model.as_text(), offline, asked);
  asked.model_config = io::read_hf_config(read_file(path), path.string());
  asked.config_file = path;
  read_generation_config(asked);
  return asked;
}

/// Of what is not said, the active environment's version counts, else the newest that is known.
void choose_versions(Asked& asked) {
  const auto python = active_python(Environment::of_this_process());
  const auto choose = [&](const char* package, std::string& version) {
    if (!version.empty()) return;
    const auto installed = python ? installed_version(*python, package) : std::nullopt;
    if (installed && is_version(*installed)) version = *installed;
    asked.sources.emplace(package, version.empty() ? "the default" : "of " + python->prefix.string());
  };
  choose("torch", asked.spec.torch);
  choose("transformers", asked.spec.transformers);
}

/// A family's program needs a configuration, and is the only one.
bool is_family_file(const std::vector<std::string>& files) {
  return files.size() == 1 && is_family(read_file(files[0]));
}

/// One model in several ways of running it, which brings its configuration, or a module of the user's own.
std::vector<Program> read_programs(const SpecOptions& options, Value& spec) {
  std::vector<Program> programs;
  const bool is_function = !options.function.empty();
  if (is_function && !options.programs.empty())
    throw Error(Errc::usage, "it is a model itself", "--from", "leave --program out");
  if (is_family_file(options.programs)) return programs;
  if ((is_function || !options.programs.empty()) && spec.find("model"))
    throw Error(Errc::usage, is_function ? "it is a model itself" : "a program brings its own configuration",
                is_function ? "--from" : "--program", "leave CONFIG out");
  for (const std::string& file : options.programs) programs.push_back(io::read_program_text(read_file(file), file));
  if (is_function) programs.push_back(captured_function(options.function, spec, Environment::of_this_process()));
  if (programs.empty()) return programs;
  const Program& first = programs.front();
  for (const Program& other : programs)
    if (other.class_name != first.class_name || !(other.config == first.config))
      throw Error(Errc::usage, "it is of another model than " + first.file, other.file);
  spec.set("model", first.config);
  if (!spec.find("transformers")) spec.set("transformers", first.transformers);
  if (const auto own = first.header.find("weights"); own != first.header.end() && !spec.find("dtype"))
    if (const auto type = io::weight_dtype(own->second))
      spec.set("dtype", std::string(kWeightDtypeNames[static_cast<std::size_t>(*type)]));
  return programs;
}

void take_families(Asked& asked, std::vector<answers::TextOf> families) {
  take_programs(asked, answers::programs_of_families(std::move(families), asked.model_config));
}

/// The trainer's file that --trainer or CONFIG names, read; CONFIG is empty then if it was that.
std::optional<io::TrainingConfig> take_trainer(SpecOptions& options, const Value& of_file) {
  TrainingFileOptions& trainer = options.trainer;
  if (trainer.file.empty() && is_training_file(options.config)) trainer.file = std::exchange(options.config, {});
  if (trainer.file.empty()) {
    for (const auto& [option, file] :
         {std::pair{"--accelerate", &trainer.accelerate}, std::pair{"--deepspeed", &trainer.deepspeed}})
      if (!file->empty())
        throw Error(Errc::usage, "it goes with a trainer's file, which is missing", option, "name that with --trainer");
    return std::nullopt;
  }
  options.said = with_place(options.said);
  return read_training_file(trainer, options.config, merged(of_file, options.said), options.gpus, options.offline);
}

}  // namespace

void add_spec_options(CLI::App& command, SpecOptions& options) {
  command
      .add_option("config", options.config,
                  "The model: its config.json, the folder that holds it, or its name on the hub")
      ->type_name("CONFIG");
  command.add_flag("--offline", options.offline, "Look a model's name up in the local Hugging Face cache alone");
  command.add_option("--spec", options.file, "YAML or JSON with the options below as keys; an option here wins")
      ->type_name("FILE");
  const auto file_of_trainer = [&](const char* name, std::string& file, const char* help) {
    command.add_option(name, file, help)->type_name("FILE")->group("Trainers' own files");
  };
  file_of_trainer(
      "--trainer", options.trainer.file,
      "What a trainer is started with: TrainingArguments, TRL, LLaMA-Factory, axolotl or ms-swift; CONFIG may be it too");
  command
      .add_flag("--nearest", options.trainer.nearest,
                "Nearest values for keys of a trainer's file that are not predicted")
      ->group("Trainers' own files");
  file_of_trainer("--accelerate", options.trainer.accelerate, "accelerate's YAML, with which --trainer is started");
  file_of_trainer("--deepspeed", options.trainer.deepspeed,
                  "DeepSpeed's JSON, instead of the one that --trainer names");
  command
      .add_option("--program", options.programs,
                  "The model as a captured program, in the place of CONFIG; again for other ways of running it; or its "
                  "family's, with CONFIG")
      ->type_name("FILE");
  command
      .add_option(
          "--from", options.function,
          "A module of your own, in the place of CONFIG: a function that returns it and a dict of what its forward "
          "is called with, given those of batch, seq and images that it takes; the active Python captures it")
      ->type_name("FILE.py:FUNCTION");
  const auto name_generation_config = [&said = options.said](const std::string& file) {
    said.set("generation_config", file);
  };
  command
      .add_option_function<std::string>("--generation-config", name_generation_config,
                                        "generation_config.json of --generate (default: beside config.json)")
      ->type_name("FILE")
      ->group("Model");
  Adder(command, options.said).add(describe_fields<Spec>(), "", "");
}

void take_spec_file(SpecOptions& options) {
  if (options.file.empty() && is_spec_file(options.config)) options.file = std::exchange(options.config, {});
}

Value spec_of_file(const std::string& path) {
  Value spec = io::value_of_spec_file(read_file(path), path);
  if (!spec.as_map()) fail_expected("a map", spec, {path, {}});
  resolve_paths(spec, std::filesystem::path(path).parent_path());
  return spec;
}

Asked read_asked(const SpecOptions& given) {
  SpecOptions options = given;
  take_spec_file(options);
  Value value = options.file.empty() ? Value::Map() : spec_of_file(options.file);
  const std::optional<io::TrainingConfig> trainer = take_trainer(options, value);
  if (trainer) {
    value = merged(trainer->spec, value);
    value.set("model", trainer->model);
  }
  value = merged(std::move(value), options.said);
  if (options.gpus > 0 && !value.find("gpus"))
    if (const std::int64_t split = answers::gpus_of_one_copy(value); split > 1) value.set("gpus", split);
  if (!options.config.empty()) value.set("model", options.config);
  std::vector<Program> programs = read_programs(options, value);
  Asked asked = asked_of(value, options.file, options.offline);
  if (is_family_file(options.programs))
    take_families(asked, {[&file = options.programs[0]] { return answers::FamilyText{file, read_file(file)}; }});
  else
    take_programs(asked, answers::programs_as_they_are(std::move(programs)));
  choose_versions(asked);
  if (trainer) {
    asked.assumptions.insert(asked.assumptions.end(), trainer->assumptions.begin(), trainer->assumptions.end());
    asked.spec.lenient_names = true;
    asked.sources.emplace("training", fmt::format("{}: {}", trainer->title, options.trainer.file));
  }
  return asked;
}

void capture_unknown(Asked& asked) {
  const Value* type = asked.model_config.find("model_type");
  const std::string* name = type ? type->as_text() : nullptr;
  if (!asked.programs->empty() || !name) return;
  std::string refusal;
  try {
    std::vector<answers::TextOf> shipped = shipped_families(asked.spec, asked.model_config);
    if (!shipped.empty()) return take_families(asked, std::move(shipped));
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    refusal = error.message();
  }
  if (asked.config_file.empty() && refusal.empty()) return;
  std::vector<Program> captured;
  captured.push_back(
      captured_model(asked.spec, asked.model_config, asked.config_file, refusal, Environment::of_this_process()));
  take_programs(asked, answers::programs_as_they_are(std::move(captured)));
}

Asked read_asked(Value spec, const std::filesystem::path& folder, const std::string& where) {
  resolve_paths(spec, folder);
  const Value* file = spec.find("spec");
  constexpr bool kOffline = true;
  if (!file) return asked_of(spec, where, kOffline);
  Value over = Value::Map();
  for (const Value::Item& item : *spec.as_map())
    if (item.key != "spec") over.append(item.key, item.value);
  return asked_of(merged(spec_of_file((folder / to_text(*file, {where, "spec"})).string()), over), where, kOffline);
}

}  // namespace tidemark::cli
