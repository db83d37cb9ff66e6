#include "answers/verdicts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/error_answer.h"
#include "answers/predict_answer.h"
#include "answers/question.h"
#include "base/bytes.h"
#include "estimate/method.h"
#include "memory/driver_memory.h"

namespace tidemark::answers {
namespace {

constexpr std::array<std::string_view, 4> kTrainedKeys{"lora", "quantization", "freeze", "train_only"};

std::vector<std::string> listed_names(const Value& asked, const char* key) {
  std::vector<std::string> names;
  const Value* list = asked.find(key);
  if (!list) return names;
  if (!list->as_list()) fail_expected("a list of names", *list, {"question", key});
  for (const Value& one : *list->as_list()) names.push_back(to_text(one, {"question", key}));
  return names;
}

Value spec_keys_in(const Value& asked) {
  const Value* spec = asked.find("spec");
  return spec ? *spec : Value(Value::Map());
}

/// The card's memory decides when blocks are freed and where the run ends, so a peak is that of one size.
Question with_room(Question question) {
  question.card.total_bytes = DriverMemory::kMostBytes;
  return question;
}

Value row_of(const std::string& name, const Question& question, const Data& data, const std::string& margin) {
  Report report = predicted_alone(question, data, margin, false);
  const std::int64_t total = report.card.total_bytes;
  Value row = Value::Map{{"name", name},
                         {"fits", report.fits ? Value(*report.fits) : Value()},
                         {"verdict", report.verdict},
                         {"total_bytes", total}};
  if (report.oom) report = predicted_alone(with_room(question), data, margin, false);
  if (report.oom) return row;
  row.set("device_bytes", report.peak.device_bytes);
  row.set("free_bytes", total - checked_add(report.peak.device_bytes, report.margin ? report.margin->bytes : 0));
  return row;
}

/// A program that is missing is an error of all rows: its name is what the caller fetches.
template <class QuestionOf>
Value row_or_error(const std::string& name, const Data& data, const std::string& margin, const QuestionOf& question) {
  try {
    return row_of(name, question(), data, margin);
  } catch (const Error& error) {
    if (error.code() == Errc::not_found) throw;
    Value row = error_value(error);
    row.set("name", name);
    return row;
  }
}

Value::List rows_of_methods(const Value& asked, const Data& data, const std::string& margin) {
  Value::List rows;
  for (const std::string& name : listed_names(asked, "methods"))
    rows.push_back(row_or_error(name, data, margin, [&] {
      Value other = asked;
      other.set("spec", with_other_method(spec_keys_in(asked), name));
      return read_question(other, data);
    }));
  return rows;
}

Value::List rows_of_cards(const Value& asked, const Data& data, const std::string& margin) {
  Value::List rows;
  const std::vector<std::string> names = listed_names(asked, "cards");
  if (names.empty()) return rows;
  const Question question = read_question(asked, data);
  for (const std::string& name : names)
    rows.push_back(row_or_error(name, data, margin, [&] { return on_card(question, name, data); }));
  return rows;
}

Value::List changes_that_fit(const Value& asked, const Data& data) {
  Value::List changes;
  const Value* wanted = asked.find("remedies");
  if (!wanted || !to_bool(*wanted, {"question", "remedies"})) return changes;
  for (Remedy& one : remedies_of(read_question(asked, data)))
    changes.push_back(Value::Map{{"change", std::move(one.change)}, {"device_bytes", one.device_bytes}});
  return changes;
}

}  // namespace

Value with_other_method(const Value& keys, const std::string& method) {
  const Value name = Value::Map{{"method", method}};
  const Value set_by_method = with_method(name);
  Value other = Value::Map();
  if (!keys.as_map()) fail_expected("a map", keys, {"spec", {}});
  for (const Value::Item& item : *keys.as_map()) {
    const bool is_of_trained = std::find(kTrainedKeys.begin(), kTrainedKeys.end(), item.key) != kTrainedKeys.end();
    if (item.key != "method" && (!is_of_trained || set_by_method.find(item.key))) other.set(item.key, item.value);
  }
  return merged(std::move(other), name);
}

Value verdicts(const Value& asked, const Data& data) {
  const Value* said = asked.find("margin");
  const std::string margin = said ? to_text(*said, {"", "margin"}) : "";
  return Value::Map{{"methods", rows_of_methods(asked, data, margin)},
                    {"cards", rows_of_cards(asked, data, margin)},
                    {"remedies", changes_that_fit(asked, data)}};
}

}  // namespace tidemark::answers
