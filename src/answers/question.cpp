#include "answers/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/number.h"
#include "estimate/generation.h"
#include "estimate/predict.h"
#include "estimate/program.h"
#include "io/card_as_asked.h"
#include "io/hf_config.h"
#include "io/value_json.h"

namespace tidemark::answers {
namespace {

const std::string& text_in(const Value& map, const char* of, const char* key) {
  const Value* value = map.find(key);
  if (!value || !value->as_text()) throw Error(Errc::bad_file, "a text is missing", fmt::format("{}: {}", of, key));
  return *value->as_text();
}

/// The spec's keys, with the model's configuration among them.
Value keys_of(const Value& asked) {
  if (!asked.as_map()) fail_expected("a map", asked, {"question", {}});
  const Value* spec = asked.find("spec");
  Value keys = spec ? *spec : Value(Value::Map());
  if (const Value* config = asked.find("config"))
    keys.set("model", io::read_hf_config(text_in(*config, "config", "text"), text_in(*config, "config", "file")));
  return keys;
}

Spec spec_of(const Value& asked, const io::Catalogue& cards) {
  Spec spec = read_spec(with_place(keys_of(asked), cards));
  if (spec.generation_config.as_text())
    throw Error(Errc::bad_value, fmt::format("{} is not looked up: no file is", spec.generation_config.quoted()),
                "generation_config", "put the content of the file here");
  if (spec.model.as_map()) {
    if (!asked.find("config")) io::check_hf_config(spec.model, "model");
    return spec;
  }
  if (spec.model.as_text() && !spec.model.as_text()->empty())
    throw Error(Errc::bad_value, fmt::format("{} is not looked up: neither files nor the hub are", spec.model.quoted()),
                "model", "put the content of its config.json here");
  throw Error(Errc::usage, "which model? Its configuration is missing", "model", "its config.json is wanted, as a map");
}

// Eight well-spread names: enough to see how they are written.
std::string some_names(const io::Catalogue& cards) {
  std::string names;
  for (std::size_t i = 0; i < cards.size(); i += cards.size() / 8 + 1)
    names += (names.empty() ? "" : ", ") + cards[i].key;
  return names;
}

Card card_of(const Value& asked, const Spec& spec, const Data& data) {
  const Value* described = asked.find("card");
  if (!described && spec.gpu.empty())
    throw Error(Errc::usage, "which card?", "gpu", fmt::format("it takes a name, such as {}", some_names(data.cards)));
  Card card = described ? io::read_card(io::value_to_json(*described), spec.gpu.empty() ? "card" : spec.gpu)
                        : io::find_card(data.cards, spec.gpu);
  return io::card_as_asked(std::move(card), data.device_memory, spec.memory,
                           kLinkNames[static_cast<std::size_t>(spec.link)], spec.windows);
}

std::vector<TextOf> families_at_hand(const Spec& spec, const Programs& programs) {
  std::vector<TextOf> families;
  for (const std::string& name : programs_that_may_answer(spec, spec.model, programs.names))
    families.emplace_back([name, text = programs.text] { return FamilyText{name, text(name)}; });
  return families;
}

/// What a question brings is the only one.
std::vector<TextOf> families_of(const Value& asked, const Spec& spec, const Programs& programs) {
  if (const Value* program = asked.find("program"))
    return {[brought = FamilyText{text_in(*program, "program", "name"), text_in(*program, "program", "text")}] {
      return brought;
    }};
  return programs.text ? families_at_hand(spec, programs) : std::vector<TextOf>();
}

void take_programs(Question& question, std::vector<TextOf> families) {
  question.programs_of = programs_of_families(std::move(families), question.model_config);
  try {
    question.programs = question.programs_of(question.spec);
  } catch (const Error& error) {
    if (error.code() == Errc::unsupported) throw NotCaptured(error);
    throw;
  }
}

void take_sources(Question& question, const Value& asked) {
  if (question.spec.torch.empty()) question.sources.emplace("torch", "the default");
  if (question.spec.transformers.empty()) question.sources.emplace("transformers", "the default");
  const Value* sources = asked.find("sources");
  if (!sources) return;
  if (!sources->as_map()) fail_expected("a map", *sources, {"sources", {}});
  for (const Value::Item& item : *sources->as_map())
    question.sources.insert_or_assign(item.key, text_in(*sources, "sources", item.key.c_str()));
}

}  // namespace

Question read_question(const Value& asked, const Data& data) {
  Spec spec = spec_of(asked, data.cards);
  Card card = card_of(asked, spec, data);
  Question question{.spec = spec,
                    .model_config = spec.model,
                    .card = std::move(card),
                    .programs_of = {},
                    .programs = {},
                    .sources = {}};
  take_sources(question, asked);
  std::vector<TextOf> families = families_of(asked, spec, data.programs);
  if (families.empty() && spec.generate > 0) throw no_generation_of(model_type_of(spec.model));
  if (families.empty()) throw NotCaptured(no_program_of(model_type_of(spec.model), data.programs.names));
  take_programs(question, std::move(families));
  return question;
}

Question on_card(Question question, const std::string& name, const Data& data) {
  const Card& card = io::find_card(data.cards, name);
  if (card.key == question.card.key) return question;
  question.spec.gpu = name;
  question.spec.memory.clear();
  const std::string_view link = kLinkNames[static_cast<std::size_t>(question.spec.link)];
  question.card = io::card_as_asked(card, data.device_memory, {}, link, question.spec.windows);
  return question;
}

ProgramsOf programs_at_hand(const Spec& spec, const Programs& programs) {
  std::vector<TextOf> families = families_at_hand(spec, programs);
  return families.empty() ? programs_as_they_are() : programs_of_families(std::move(families), spec.model);
}

std::optional<std::string> program_needed(const Value& asked, const Data& data) {
  const Spec spec = spec_of(asked, data.cards);
  const std::vector<std::string> names = programs_that_may_answer(spec, spec.model, data.programs.names);
  return names.empty() ? std::nullopt : std::optional(names[0]);
}

std::vector<Place> counted_places(const std::string& text) {
  std::vector<Place> places;
  if (text.ends_with(".json")) return places;
  const auto count_in = [](std::string_view digits) { return parse_number<std::int64_t>(digits).value_or(0); };
  for (const std::size_t cross : {text.find_first_of('x'), text.find_last_of('x')}) {
    if (cross == std::string::npos) return places;
    const std::string front = text.substr(0, cross), back = text.substr(cross + 1);
    if (const std::int64_t gpus = count_in(front); gpus > 0) places.push_back({back, gpus});
    if (const std::int64_t gpus = count_in(back); gpus > 0 && !front.empty()) places.push_back({front, gpus});
  }
  return places;
}

Place place_of(const std::string& text, const io::Catalogue& cards) {
  const std::vector<Place> places = counted_places(text);
  if (places.empty() || io::has_card(cards, text)) return {text, 1};
  const auto is_known = [&](const Place& place) { return io::has_card(cards, place.card); };
  const auto known = std::find_if(places.begin(), places.end(), is_known);
  return known == places.end() ? places.front() : *known;
}

Value with_place(Value keys, const io::Catalogue& cards) {
  const Value* gpu = keys.as_map() ? keys.find("gpu") : nullptr;
  if (!gpu || !gpu->as_text()) return keys;
  const Place place = place_of(*gpu->as_text(), cards);
  keys.set("gpu", place.card);
  if (place.gpus > 1 && !keys.find("gpus")) keys.set("gpus", place.gpus);
  return keys;
}

std::string card_said(std::initializer_list<const Value*> keys) {
  for (const Value* one : keys)
    if (const Value* gpu = one->find("gpu"); gpu && gpu->as_text()) return *gpu->as_text();
  return "";
}

std::int64_t gpus_of_one_copy(const Value& keys) {
  std::int64_t gpus = 1;
  for (const char* way : {"pp", "tp", "cp"}) {
    const Value* options = keys.find(way);
    const Value* degree = options && options->as_map() ? options->find("degree") : nullptr;
    if (degree && degree->as_integer() && *degree->as_integer() > 0)
      gpus = checked_multiply(gpus, *degree->as_integer());
  }
  return gpus;
}

}  // namespace tidemark::answers
