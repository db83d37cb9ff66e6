#include "io/serving_json.h"

#include <fmt/format.h>

namespace tidemark::io {
namespace {

NamedBytes read_term(const Json& element, const std::string& where) {
  ObjectReader reader(element, where);
  NamedBytes term{reader.text("name"), reader.number("bytes")};
  reader.finish();
  return term;
}

void read_kv_cache(ObjectReader reader, ServingReport& serving) {
  serving.kv_bytes = reader.number("bytes");
  serving.blocks = reader.number("blocks");
  serving.block_tokens = reader.number("block_tokens");
  serving.tokens = reader.number("tokens");
  serving.length = reader.number("length");
  serving.concurrency = reader.real("concurrency");
  serving.most_sequences = reader.number("most_sequences");
  reader.finish();
}

void read_requests(ObjectReader reader, ServingReport& serving) {
  serving.requests = reader.number("sent");
  serving.answered = reader.number("answered");
  if (reader.optional("failure")) serving.failure = reader.text("failure");
  reader.finish();
}

void read_refusal(ObjectReader reader, ServingReport& serving) {
  serving.refusal = reader.text("message");
  serving.for_memory = reader.boolean("for_memory");
  reader.finish();
}

}  // namespace

ServingReport read_serving(ObjectReader reader) {
  ServingReport serving;
  serving.engine = reader.text("engine");
  serving.version = reader.text("version");
  for (const Json& element : reader.array("terms"))
    serving.terms.push_back(read_term(element, fmt::format("{}[{}]", reader.path("terms"), serving.terms.size())));
  if (reader.optional("kv_cache")) read_kv_cache(reader.object("kv_cache"), serving);
  if (reader.optional("requests")) read_requests(reader.object("requests"), serving);
  if (reader.optional("refusal")) read_refusal(reader.object("refusal"), serving);
  reader.finish();
  return serving;
}

Json serving_to_json(const ServingReport& serving) {
  Json json{{"engine", serving.engine}, {"version", serving.version}, {"terms", Json::array()}};
  for (const NamedBytes& term : serving.terms) json["terms"].push_back({{"name", term.name}, {"bytes", term.bytes}});
  if (serving.tokens > 0)
    json["kv_cache"] = {{"bytes", serving.kv_bytes},
                        {"blocks", serving.blocks},
                        {"block_tokens", serving.block_tokens},
                        {"tokens", serving.tokens},
                        {"length", serving.length},
                        {"concurrency", serving.concurrency},
                        {"most_sequences", serving.most_sequences}};
  if (serving.requests > 0) {
    json["requests"] = {{"sent", serving.requests}, {"answered", serving.answered}};
    if (!serving.failure.empty()) json["requests"]["failure"] = serving.failure;
  }
  if (!serving.refusal.empty()) json["refusal"] = {{"message", serving.refusal}, {"for_memory", serving.for_memory}};
  return json;
}

}  // namespace tidemark::io
