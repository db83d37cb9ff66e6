#include "io/corpus_json.h"

#include <fmt/format.h>

#include "base/error.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

/// Calls read(value, where) for each line that is not blank.
template <class Read>
void for_each_line(std::string_view text, const std::string& where, Read&& read) {
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string at = fmt::format("{}: line {}", where, number);
    read(value_from_json(line, at, number), at);
  }
}

/// Without what says nothing: null, and what is empty.
Value only_said(const Value& all) {
  Value said = Value::Map();
  for (const Value::Item& item : *all.as_map()) {
    const Value& value = item.value;
    const bool empty =
        value.is_null() || (value.as_text() && value.as_text()->empty()) || (value.as_map() && value.as_map()->empty());
    if (!empty) said.append(item.key, value);
  }
  return said;
}

}  // namespace

CorpusInfo read_corpus_json(std::string_view text, const std::string& where) {
  return read_corpus_info(value_from_json(text, where), where);
}

std::vector<Measurement> read_rows(std::string_view text, const std::string& where) {
  std::vector<Measurement> rows;
  for_each_line(text, where,
                [&](const Value& value, const std::string& at) { rows.push_back(read_measurement(value, at)); });
  if (rows.empty()) throw Error(Errc::bad_file, "it has no rows", where);
  return rows;
}

std::vector<Answer> read_answers(std::string_view text, const std::string& where) {
  std::vector<Answer> answers;
  for_each_line(text, where,
                [&](const Value& value, const std::string& at) { answers.push_back(read_answer(value, at)); });
  return answers;
}

std::vector<Estimate> read_estimates(std::string_view text, const std::string& where) {
  std::vector<Estimate> estimates;
  for_each_line(text, where,
                [&](const Value& value, const std::string& at) { estimates.push_back(read_estimate(value, at)); });
  return estimates;
}

std::string write_rows(const std::vector<Measurement>& rows) {
  std::string text;
  for (const Measurement& row : rows) text += value_to_json_line(only_said(write_fields(row)));
  return text;
}

std::string write_answers(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers) text += value_to_json_line(only_said(write_fields(answer)));
  return text;
}

}  // namespace tidemark::io
