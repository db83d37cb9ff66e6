#include "question.h"

#include <algorithm>

#include "base/error.h"
#include "base/release.h"
#include "data.h"
#include "estimate/program.h"
#include "io/card_as_asked.h"
#include "io/card_json.h"
#include "io/hf_config.h"
#include "io/program_text.h"
#include "io/value_json.h"
#include "zoo/model.h"

namespace tidemark::web {
namespace {

constexpr const char* kWhere = "question";

struct Asked {
  Value all;
  Spec spec;
};

Asked read_asked(std::string_view text) {
  Asked asked{io::value_from_json(text, kWhere), {}};
  const Value* spec = asked.all.find("spec");
  asked.spec = read_spec(spec ? *spec : Value(Value::Map()));
  if (!asked.spec.model.as_map())
    throw Error(Errc::usage, "which model? Its configuration is missing", "model", "choose one, or drop a config.json");
  io::check_hf_config(asked.spec.model, "model");
  return asked;
}

bool is_known_family(const Value& model_config) {
  const std::string& type = model_type_of(model_config);
  return std::any_of(model_entries().begin(), model_entries().end(),
                     [&](const ModelEntry& entry) { return type == entry.model_type; });
}

Card card_of(const Spec& spec) {
  if (spec.gpu.empty()) throw Error(Errc::usage, "which card?", "gpu", "choose one of the list");
  return io::card_as_asked(io::find_card(catalogue(), spec.gpu), kDeviceMemory, spec.memory,
                           kLinkNames[static_cast<std::size_t>(spec.link)]);
}

std::optional<std::string> program_of(const Spec& spec) {
  if (is_known_family(spec.model)) return std::nullopt;
  const std::string& type = model_type_of(spec.model);
  std::map<Release, std::string> names;
  std::set<Release> having;
  for (const std::string_view name : program_names()) {
    const std::size_t slash = name.find('/');
    const auto release = release_of(name.substr(0, slash));
    if (!release || name.substr(slash + 1) != type) continue;
    having.insert(*release);
    names.emplace(*release, name);
  }
  const auto nearest = nearest_release(having, release_of(spec.transformers));
  return nearest ? std::optional(names.at(*nearest)) : std::nullopt;
}

const std::string& text_of(const Value& program, const char* key) {
  const Value* value = program.find(key);
  if (!value || !value->as_text()) throw Error(Errc::bad_file, "a text is missing", std::string("program: ") + key);
  return *value->as_text();
}

}  // namespace

const io::Catalogue& catalogue() {
  static const io::Catalogue read = io::read_catalogue(kGpus, "gpus.json");
  return read;
}

Question read_question(std::string_view text) {
  Asked asked = read_asked(text);
  Question question{.spec = asked.spec, .model_config = asked.spec.model, .card = card_of(asked.spec), .programs = {}, .sources = {}};
  if (asked.spec.torch.empty()) question.sources.emplace("torch", "the default");
  if (asked.spec.transformers.empty()) question.sources.emplace("transformers", "the default");
  const Value* program = asked.all.find("program");
  if (!program || is_known_family(question.model_config)) return question;
  Program bound = io::read_family_text(text_of(*program, "text"), text_of(*program, "name"), question.model_config,
                                       family_use_of(question.spec));
  question.model_config = bound.config;
  question.spec.transformers = bound.transformers;
  question.programs.push_back(std::move(bound));
  return question;
}

std::optional<std::string> program_needed(std::string_view text) { return program_of(read_asked(text).spec); }

}  // namespace tidemark::web
