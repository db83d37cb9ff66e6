#include "openapi.h"

#include <fmt/format.h>

#include "answers/topics.h"
#include "io/value_json.h"

namespace tidemark::serve {
namespace {

constexpr std::string_view kJsonText = "application/json";

Value content(std::string_view media_type, Value schema) {
  Value map = Value::Map();
  map.set(media_type, Value::Map{{"schema", std::move(schema)}});
  return Value::Map{{"content", std::move(map)}};
}

Value response(const char* description) {
  return merged(Value::Map{{"description", description}},
                content(kJsonText, Value::Map{{"$ref", "#/components/schemas/error"}}));
}

Value error_schema() {
  Value text = Value::Map{{"type", "string"}};
  Value parts = Value::Map{{"code", text},
                           {"message", text},
                           {"where", text},
                           {"hint", text},
                           {"bug", Value::Map{{"type", "boolean"}}},
                           {"can_be_captured", Value::Map{{"type", "boolean"}}}};
  Value error =
      Value::Map{{"type", "object"}, {"properties", std::move(parts)}, {"required", Value::List{"code", "message"}}};
  return Value::Map{
      {"type", "object"}, {"properties", Value::Map{{"error", std::move(error)}}}, {"required", Value::List{"error"}}};
}

Value operation(const answers::Topic& topic) {
  Value good =
      merged(Value::Map{{"description", topic.summary}}, content(topic.media_type, Value::Map{{"type", "object"}}));
  Value responses =
      Value::Map{{"200", std::move(good)},
                 {"400", response("The question is wrong: what, where, and the nearest that would do")},
                 {"413", Value::Map{{"description", "The question is too long"}}},
                 {"422", response("Understood, and nothing that is known")},
                 {"500", response("A bug")},
                 {"503", response("Too much is asked at once, or the answer took too long or too much memory")}};
  Value body = Value::Map{{"type", "object"}, {"properties", topic.keys()}, {"additionalProperties", false}};
  Value question = Value::Map();
  question.set(kJsonText, Value::Map{{"schema", std::move(body)}, {"example", io::value_from_json(topic.example, "")}});
  return Value::Map{{"operationId", topic.name},
                    {"summary", topic.summary},
                    {"requestBody", Value::Map{{"required", true}, {"content", std::move(question)}}},
                    {"responses", std::move(responses)}};
}

/// A document for GET.
Value reading(const char* name, const char* summary, std::string_view media_type, bool may_end) {
  Value good = merged(Value::Map{{"description", summary}}, content(media_type, Value::Map()));
  Value responses = Value::Map{{"200", std::move(good)}};
  if (may_end) responses.set("503", Value::Map{{"description", "The server is ending"}});
  return Value::Map{
      {"get", Value::Map{{"operationId", name}, {"summary", summary}, {"responses", std::move(responses)}}}};
}

}  // namespace

std::string openapi(std::string_view version) {
  Value paths = Value::Map();
  for (const answers::Topic& topic : answers::topics())
    if (topic.is_served) paths.set(fmt::format("/v1/{}", topic.name), Value::Map{{"post", operation(topic)}});
  paths.set("/health", reading("health", "Whether the server answers", kJsonText, true));
  paths.set("/metrics", reading("metrics", "Counts and times for Prometheus", "text/plain", false));
  return io::value_to_json(
      Value::Map{{"openapi", "3.1.0"},
                 {"info", Value::Map{{"title", "Tidemark"},
                                     {"version", version},
                                     {"summary", "How much GPU memory a training needs, to the byte, without a GPU"}}},
                 {"paths", std::move(paths)},
                 {"components", Value::Map{{"schemas", Value::Map{{"error", error_schema()}}}}}});
}

}  // namespace tidemark::serve
