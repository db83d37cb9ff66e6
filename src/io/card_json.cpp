#include "io/card_json.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "io/device_memory_json.h"
#include "io/json_reader.h"
#include "memory/driver_memory.h"

namespace tidemark::io {
namespace {

// Names are compared without case, spaces and dashes: "H100 80GB", "h100-80g" and "h100_80GB" are one.
std::string folded(std::string_view name) {
  std::string result;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::size_t size = result.size();
  if (size > 1 && result.back() == 'g' && std::isdigit(static_cast<unsigned char>(result[size - 2]))) result += 'b';
  return result;
}

void read_compute_capability(ObjectReader& reader, Card& card) {
  const Json& value = reader.array("compute_capability");
  if (value.size() != 2) reader.fail("compute_capability", "[major, minor]", value);
  const std::string where = reader.path("compute_capability");
  card.compute_capability_major = whole_number(value[0], where);
  card.compute_capability_minor = whole_number(value[1], where);
}

std::map<std::string, std::string> read_sources(ObjectReader& reader) {
  std::map<std::string, std::string> sources;
  const Json* value = reader.optional("sources");
  if (!value) return sources;
  if (!value->is_object()) reader.fail("sources", "an object", *value);
  for (const auto& item : value->items())
    sources[item.key()] = item.value().is_string() ? item.value().get<std::string>() : item.value().dump();
  return sources;
}

std::vector<std::string> read_aliases(ObjectReader& reader) {
  std::vector<std::string> aliases;
  const Json* value = reader.optional("aliases");
  if (!value) return aliases;
  if (!value->is_array()) reader.fail("aliases", "a list of texts", *value);
  for (const Json& alias : *value) {
    if (!alias.is_string()) reader.fail("aliases", "a list of texts", *value);
    aliases.push_back(alias.get<std::string>());
  }
  return aliases;
}

// Not needed to play the card, so a user's own file may leave them out.
void read_extras(ObjectReader& reader, Card& card, bool required) {
  const auto wanted = [&](const char* key) { return required || reader.optional(key); };
  if (wanted("nominal_gib")) card.nominal_gib = reader.number("nominal_gib");
  if (wanted("total_bytes_exact")) card.total_bytes_exact = reader.boolean("total_bytes_exact");
  if (reader.optional("wddm")) card.wddm = reader.boolean("wddm");
  if (wanted("bf16_flops")) card.bf16_flops = reader.number("bf16_flops");
  if (wanted("fp16_flops")) card.fp16_flops = reader.number("fp16_flops");
  if (wanted("fp32_flops")) card.fp32_flops = reader.number("fp32_flops");
  if (!wanted("link")) return;
  ObjectReader link = reader.object("link");
  card.link = {link.text("kind"), link.number("bytes_per_s")};
  link.finish();
}

void check_card(const Card& card, const std::string& where) {
  const auto refuse = [&](const char* what) { throw Error(Errc::bad_file, what, where); };
  if (card.name.empty() || card.name.find_first_of("\r\n") != std::string::npos)
    refuse("\"name\" must be one line of text");
  if (card.key.empty()) refuse("\"key\" must not be empty");
  if (card.total_bytes == 0) refuse("\"total_bytes\" must not be 0");
  if (card.multiprocessors == 0) refuse("\"multiprocessors\" must not be 0");
  if (card.driver_reserved_bytes > card.total_bytes || card.context_bytes.high > card.total_bytes)
    refuse("what the driver and the context take is more than \"total_bytes\"");
}

Card card_from_json(const Json& json, const std::string& where, bool in_catalogue) {
  ObjectReader reader(json, where);
  Card card;
  card.name = reader.text("name");
  card.key = in_catalogue || reader.has("key") ? reader.text("key") : card.name;
  card.aliases = read_aliases(reader);
  read_compute_capability(reader, card);
  card.context_bytes = read_range(reader, "context_bytes");
  visit_figures(card, [&](const char* key, std::int64_t& value) { value = reader.number(key); });
  read_extras(reader, card, in_catalogue);
  card.sources = read_sources(reader);
  reader.finish();
  check_card(card, where);
  return card;
}

Json card_to_json(const Card& card) {
  Json json;
  json["key"] = card.key;
  json["aliases"] = card.aliases;
  json["name"] = card.name;
  json["compute_capability"] = {card.compute_capability_major, card.compute_capability_minor};
  visit_figures(card, [&](const char* key, std::int64_t value) { json[key] = value; });
  json["context_bytes"] = {
      {"low", card.context_bytes.low}, {"high", card.context_bytes.high}, {"typical", card.context_bytes.typical}};
  json["nominal_gib"] = card.nominal_gib;
  json["total_bytes_exact"] = card.total_bytes_exact;
  json["bf16_flops"] = card.bf16_flops;
  json["fp16_flops"] = card.fp16_flops;
  json["fp32_flops"] = card.fp32_flops;
  json["link"] = {{"kind", card.link.kind}, {"bytes_per_s", card.link.bytes_per_s}};
  if (card.wddm) json["wddm"] = true;
  json["sources"] = card.sources;
  return json;
}

std::string to_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void check_unique(const Catalogue& catalogue, const std::string& where) {
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (!seen.insert(folded(name)).second)
      throw Error(Errc::bad_file, fmt::format("the name \"{}\" is given twice", name), where);
  };
  for (const Card& card : catalogue) {
    add(card.key);
    for (const std::string& alias : card.aliases) add(alias);
  }
}

const Card* card_named(const Catalogue& catalogue, std::string_view name) {
  const std::string wanted = folded(name);
  for (const Card& card : catalogue) {
    if (folded(card.key) == wanted || folded(card.name) == wanted) return &card;
    for (const std::string& alias : card.aliases)
      if (folded(alias) == wanted) return &card;
  }
  return nullptr;
}

}  // namespace

Catalogue read_catalogue(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  const Json& cards = json.is_object() && json.contains("cards") ? json.at("cards") : json;
  if (!cards.is_array()) throw Error(Errc::bad_file, "expected a list of cards", where);
  Catalogue catalogue;
  for (const Json& card : cards)
    catalogue.push_back(card_from_json(card, fmt::format("{}: cards[{}]", where, catalogue.size()), true));
  check_unique(catalogue, where);
  return catalogue;
}

Card read_card(std::string_view text, const std::string& where) {
  return card_from_json(parse_json(text, where), where, false);
}

bool has_card(const Catalogue& catalogue, std::string_view name) { return card_named(catalogue, name) != nullptr; }

std::string size_assumption(const Catalogue& catalogue, std::string_view name) {
  const Card* card = card_named(catalogue, name);
  if (!card || folded(card->key) == folded(name) || folded(card->name) == folded(name)) return {};
  for (const Card& other : catalogue)
    if (other.nominal_gib != card->nominal_gib && folded(other.key).starts_with(folded(name)) &&
        folded(other.key).substr(folded(name).size()) == fmt::format("{}gb", other.nominal_gib))
      return fmt::format("{} is taken for {}, not {}", name, card->key, other.key);
  return {};
}

const Card& find_card(const Catalogue& catalogue, std::string_view name) {
  if (const Card* card = card_named(catalogue, name)) return *card;
  std::vector<std::string> names;
  for (const Card& card : catalogue) {
    names.push_back(card.key);
    names.insert(names.end(), card.aliases.begin(), card.aliases.end());
  }
  const std::string hint = did_you_mean(name, names);
  throw Error(Errc::unknown_name, fmt::format("there is no card \"{}\"", name), "--gpu",
              (hint.empty() ? "" : hint + "  ") + "`tidemark gpus` lists all; a file can describe another");
}

std::string write_card(const Card& card) { return to_text(card_to_json(card)); }

std::string write_catalogue(const Catalogue& catalogue) {
  Json list = Json::array();
  for (const Card& card : catalogue) list.push_back(card_to_json(card));
  return to_text(list);
}

std::string write_card_properties(const Card& card) {
  std::string text =
      fmt::format("name={}\ncompute_capability_major={}\ncompute_capability_minor={}\ncontext_bytes={}\n", card.name,
                  card.compute_capability_major, card.compute_capability_minor, card.context_bytes.typical);
  visit_figures(card, [&](const char* key, std::int64_t value) { text += fmt::format("{}={}\n", key, value); });
  text += fmt::format("bf16_flops={}\nfp16_flops={}\nfp32_flops={}\nlink_bytes_per_s={}\nlibrary_bytes={}\n",
                      card.bf16_flops, card.fp16_flops, card.fp32_flops, card.link.bytes_per_s,
                      card.beside.library_bytes.typical);
  if (card.wddm) text += fmt::format("spill_bytes={}\n", DriverMemory::kMostBytes - card.total_bytes);
  text += fmt::format("nccl_alone_bytes={}\n", card.beside.nccl.alone_bytes.typical);
  for (const bool across_nodes : {false, true}) {
    if (!knows_link(card.beside.nccl, card.link.kind))
      break;  // it matters to several ranks alone, and is refused there
    const CommunicatorBytes bytes = communicator_bytes(card.beside.nccl, card.link.kind, 2, across_nodes);
    const char* const where = across_nodes ? "_across_nodes" : "";
    text += fmt::format("nccl_made{0}_bytes={1}\nnccl_collective{0}_bytes={2}\nnccl_peer{0}_bytes={3}\n", where,
                        bytes.made.typical, bytes.collective.typical, bytes.peer.typical);
  }
  return text;
}

}  // namespace tidemark::io
