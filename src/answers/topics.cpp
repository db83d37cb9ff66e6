#include "answers/topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <vector>

#include "answers/describe.h"
#include "answers/error_answer.h"
#include "answers/plan_answer.h"
#include "answers/plan_wishes.h"
#include "answers/predict_answer.h"
#include "base/did_you_mean.h"
#include "io/fields_schema.h"
#include "io/plan_text.h"
#include "io/report_explanation.h"
#include "io/report_html.h"
#include "io/report_json.h"
#include "io/report_text.h"
#include "io/value_json.h"

namespace tidemark::answers {
namespace {

Value schema(const char* type, std::string_view description) {
  return Value::Map{{"type", type}, {"description", description}};
}

Value texts_of(std::string_view description, std::initializer_list<const char*> keys) {
  Value all = schema("object", description), properties = Value::Map();
  Value::List required;
  for (const char* key : keys) properties.set(key, Value::Map{{"type", "string"}}), required.emplace_back(key);
  all.set("properties", std::move(properties));
  all.set("required", std::move(required));
  all.set("additionalProperties", false);
  return all;
}

Value keys_of_question() {
  Value spec = io::schema_of_fields(describe_fields<Spec>());
  spec.set("description", "The training: the keys of a spec file, with the model's config.json under \"model\"");
  Value sources = schema("object", "Where what nobody said was found, for the report to tell");
  sources.set("additionalProperties", Value::Map{{"type", "string"}});
  return Value::Map{
      {"spec", std::move(spec)},
      {"config",
       texts_of("Instead of spec.model: config.json as it was written, and its name for messages", {"text", "file"})},
      {"program",
       texts_of("The captured program of the model's family, instead of the one that is at hand", {"name", "text"})},
      {"card", schema("object", "A card that is described instead of named")},
      {"sources", std::move(sources)}};
}

Value keys_of_predict() {
  return merged(keys_of_question(),
                Value::Map{{"all_ranks", schema("boolean", "A report on every rank")},
                           {"margin", schema("string", "A quantile of measured residuals to keep free, such as p90")}});
}

Value keys_of_plan() {
  Value wishes = io::schema_of_fields(describe_fields<PlanWishes>());
  wishes.set("description", "What is best, and what may change");
  Value share = io::schema_of_fields(describe_fields<plan::Share>());
  share.set("description", "Of a search that several machines do: one of them, or what they found");
  Value shares = schema("object", "The same of each card of plan.cheapest, by its name");
  shares.set("additionalProperties", share);
  return merged(
      keys_of_question(),
      Value::Map{{"plan", std::move(wishes)},
                 {"share", std::move(share)},
                 {"shares", std::move(shares)},
                 {"with_text",
                  schema("boolean",
                         "Answer {\"json\", \"text\", \"wants_cudnn\"}: the plan, the plan for a person, and whether "
                         "configurations were left out whose convolutions no table has")}});
}

Value keys_of_explain() {
  return merged(keys_of_question(),
                Value::Map{{"report", schema("string", "Instead of a question: a report, as a JSON text")},
                           {"by", schema("string", "Lists to show: category, module, operation, line")},
                           {"rows", schema("integer", "Rows of each list")},
                           {"layers", schema("boolean", "Each layer by itself, instead of repeated ones as one row")}});
}

Value keys_of_report() { return Value::Map{{"report", schema("string", "A report, as a JSON text")}}; }
Value keys_of_write_options() { return Value::Map{{"spec", schema("object", "Keys of a spec file")}}; }
Value no_keys() { return Value::Map(); }

Report report_in(const Value& asked) {
  const Value* report = asked.find("report");
  return io::read_report(report ? to_text(*report, {"", "report"}) : "", "report");
}

std::string predict_text(const Value& asked, const Data& data, const plan::Told&) {
  return io::write_report(predicted(asked, data));
}

std::string plan_text(const Value& asked, const Data& data, const plan::Told& told) {
  const Value* with_text = asked.find("with_text");
  const PlanAnswer found = planned(asked, data, told);
  const std::string json = io::value_to_json(found.plan);
  if (!with_text || !to_bool(*with_text, {"", "with_text"})) return json;
  return io::value_to_json_line(Value::Map{{"json", json}, {"text", found.text}, {"wants_cudnn", found.wants_cudnn}});
}

std::string explain_text(const Value& asked, const Data& data, const plan::Told&) {
  const Value *by = asked.find("by"), *rows = asked.find("rows"), *layers = asked.find("layers");
  io::Explanation wanted{.lists =
                             io::parse_peak_lists(by ? to_text(*by, {"", "by"}) : "category,module,operation", "by")};
  if (rows)
    wanted.rows = static_cast<std::size_t>(std::clamp<std::int64_t>(to_integer(*rows, {"", "rows"}), 1, 1'000'000));
  if (layers) wanted.layers_together = !to_bool(*layers, {"", "layers"});
  const Report report = asked.find("report") ? report_in(asked) : predicted(asked, data);
  return io::value_to_json(Value::Map{{"verdict", report.verdict}, {"text", io::explanation_of(report, wanted)}});
}

std::string html_text(const Value& asked, const Data&, const plan::Told&) {
  return io::report_to_html(report_in(asked));
}
std::string plain_text(const Value& asked, const Data&, const plan::Told&) {
  return io::report_to_text(report_in(asked));
}
std::string described_text(const Value&, const Data& data, const plan::Told&) {
  return io::value_to_json(described(data));
}
std::string options_text(const Value& asked, const Data&, const plan::Told&) {
  const Value* spec = asked.find("spec");
  return io::options_of(spec ? *spec : Value(Value::Map()));
}

constexpr std::string_view kPredictExample =
    R"({"spec": {"model": {"model_type": "gpt2"}, "batch": 8, "seq": 1024, "gpu": "l4"}, "margin": "p90"})";
constexpr std::string_view kPlanExample =
    R"({"spec": {"model": {"model_type": "gpt2"}, "batch": 8, "seq": 1024, "gpu": "l4"}, "plan": {"goal": "least_memory"}})";
constexpr std::string_view kExplainExample =
    R"({"spec": {"model": {"model_type": "gpt2"}, "batch": 8, "seq": 1024, "gpu": "l4"}, "by": "module", "rows": 5})";

constexpr std::string_view kJson = "application/json", kPlain = "text/plain", kHtml = "text/html";
constexpr Topic kTopics[] = {
    {"predict", "The memory of a training: a report (tidemark.report/1)", predict_text, keys_of_predict, kJson, true,
     kPredictExample},
    {"plan", "Which configuration to run (tidemark.plan/1)", plan_text, keys_of_plan, kJson, true, kPlanExample},
    {"explain", "What is live at the peak, and where it comes from", explain_text, keys_of_explain, kJson, true,
     kExplainExample},
    {"describe", "The cards, families of models and keys that are known", described_text, no_keys, kJson, true, "{}"},
    {"html", "A report as one page", html_text, keys_of_report, kHtml, false},
    {"text", "A report for a terminal", plain_text, keys_of_report, kPlain, false},
    {"options", "Keys of a spec as options of the command line", options_text, keys_of_write_options, kPlain, false},
};

std::vector<std::string> names_in(const Value& map) {
  std::vector<std::string> names;
  for (const Value::Item& item : *map.as_map()) names.push_back(item.key);
  return names;
}

const Topic& topic_of(std::string_view name) {
  std::vector<std::string> known;
  for (const Topic& topic : kTopics) {
    if (topic.name == name) return topic;
    known.emplace_back(topic.name);
  }
  throw Error(Errc::unknown_name, fmt::format("\"{}\" is nothing that can be asked", name), "topic",
              did_you_mean(name, known));
}

/// Made once: what is compared with each question's keys.
const Value& keys_of(const Topic& topic) {
  static const std::map<std::string_view, Value> all = [] {
    std::map<std::string_view, Value> made;
    for (const Topic& one : kTopics) made.emplace(one.name, one.keys());
    return made;
  }();
  return all.at(topic.name);
}

/// Where an unknown key belongs.
std::string remedy_of(const std::string& key, const Value& keys) {
  const Value* spec = keys.find("spec");
  const Value* of_spec = spec ? spec->find("properties") : nullptr;
  if (of_spec && of_spec->find(key)) return fmt::format(R"(it is a key of "spec": {{"spec": {{"{}": …}}}})", key);
  return did_you_mean(key, names_in(keys));
}

std::string answer_text(std::string_view name, std::string_view question, const Data& data, const plan::Told& told) {
  const Topic& topic = topic_of(name);
  const Value asked = io::value_from_json(question, "question");
  if (!asked.as_map()) fail_expected("a map", asked, {"question", {}});
  const Value& keys = keys_of(topic);
  for (const Value::Item& item : *asked.as_map())
    if (!keys.find(item.key)) throw Error(Errc::unknown_name, "unknown key", item.key, remedy_of(item.key, keys));
  return topic.answer(asked, data, told);
}

}  // namespace

std::span<const Topic> topics() { return kTopics; }

Answer answer(std::string_view topic, std::string_view question, const Data& data, const plan::Told& told) {
  try {
    return {answer_text(topic, question, data, told), std::nullopt};
  } catch (const Error& error) {
    return {io::value_to_json_line(error_value(error)), error.code()};
  } catch (const std::bad_alloc&) {
    throw;  // for a bug it would be taken below
  } catch (const std::exception& error) {
    return {io::value_to_json_line(error_value_of_bug(error.what())), std::nullopt, true};
  }
}

}  // namespace tidemark::answers
