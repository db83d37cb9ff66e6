#include "io/measurements_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "base/number.h"
#include "estimate/spec.h"

namespace tidemark::io {
namespace {

// Keys of a row that may be columns; the rest follows from the others, or has no place in a small table.
constexpr std::array kOwnColumns{"id",     "source",       "family",         "modality",       "method",
                                 "metric", "memory_bytes", "measured_bytes", "rounding_bytes", "out_of_memory",
                                 "gpu"};

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::vector<CsvRow> read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // spreadsheets put it in front
    while (at_ < text_.size()) read_row();
    return std::move(rows_);
  }

 private:
  void read_row() {
    CsvRow row{line_, {}};
    do row.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
    while (take(','));
    take('\r');
    if (at_ < text_.size() && !take('\n')) fail("there is text after a closing quote");
    ++line_;
    if (row.cells.size() > 1 || row.cells[0].find_first_not_of(" \t") != std::string::npos)
      rows_.push_back(std::move(row));
  }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    if (cell.find('"') != std::string::npos) fail("a quote stands inside a cell that does not begin with one");
    const std::size_t first = cell.find_first_not_of(" \t");
    return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
  }

  std::string quoted() {
    std::string cell;
    for (++at_;;) {
      if (at_ >= text_.size()) fail("a quote is not closed");
      const char c = text_[at_++];
      if (c == '"' && !take('"')) return cell;
      if (c == '\n') ++line_;
      cell += c;
    }
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail(const char* what) const {
    throw Error(Errc::bad_file, what, fmt::format("{}: line {}", where_, line_));
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::vector<CsvRow> rows_;
};

struct Column {
  std::string name;
  const FieldDescription* own = nullptr;   // a key of the row
  const FieldDescription* spec = nullptr;  // a key of the spec
};

const FieldDescription* find_field(const std::vector<FieldDescription>& fields, std::string_view name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  for (const FieldDescription& field : fields) {
    if (field.name != name.substr(0, dot)) continue;
    return dot == name.size() ? &field : find_field(field.fields, name.substr(dot + 1));
  }
  return nullptr;
}

void set_nested(Value& map, std::string_view name, Value value) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return map.set(name, std::move(value));
  const Value* old = map.find(name.substr(0, dot));
  Value inner = old ? *old : Value(Value::Map());
  set_nested(inner, name.substr(dot + 1), std::move(value));
  map.set(name.substr(0, dot), std::move(inner));
}

/// "12.3" of a unit is known to half of its last digit.
void set_rounded(Value& row, const std::string& text, std::int64_t unit_bytes, const std::string& where) {
  const double number = parse_number<double>(text).value_or(0);
  if (!(number > 0) || number > 1e9) fail_expected("a size", text, where);
  const std::size_t dot = text.find('.');
  const double digits = dot == std::string::npos ? 0 : static_cast<double>(text.size() - dot - 1);
  const auto unit = static_cast<double>(unit_bytes);
  row.set("measured_bytes", static_cast<std::int64_t>(std::llround(number * unit)));
  if (!row.find("rounding_bytes"))
    row.set("rounding_bytes", static_cast<std::int64_t>(std::ceil(unit * std::pow(10.0, -digits) / 2)));
}

/// "train.py --batch 3": words between spaces; one that has spaces itself stands between quotes.
Value run_of(const std::string& command, const std::string& where) {
  if (std::ranges::count(command, '"') % 2 != 0) throw Error(Errc::bad_value, "a quote is not closed", where);
  Value::List words;
  std::istringstream rest(command);
  for (std::string word; rest >> std::quoted(word);) words.emplace_back(word);
  Value run = Value::Map();
  run.set("script", words.empty() ? Value("") : words.front());
  if (!words.empty()) words.erase(words.begin());
  run.set("arguments", std::move(words));
  return run;
}

class TableReader {
 public:
  explicit TableReader(const std::string& where) : where_(where) {}

  void read_header(const CsvRow& header) {
    std::vector<std::string> known(kOwnColumns.begin(), kOwnColumns.end());
    known.insert(known.end(), kOther.begin(), kOther.end());
    for (const FieldDescription& field : spec_fields_) known.push_back(field.name);
    for (const std::string& name : header.cells) {
      if (std::any_of(columns_.begin(), columns_.end(), [&](const Column& one) { return one.name == name; }))
        fail(header, fmt::format("the column \"{}\" is given twice", name));
      Column column{name};
      if (std::find(kOwnColumns.begin(), kOwnColumns.end(), name) != kOwnColumns.end())
        column.own = find_field(own_fields_, name);
      else if (std::find(kOther.begin(), kOther.end(), name) == kOther.end())
        column.spec = find_field(spec_fields_, name);
      if (!column.own && !column.spec && std::find(kOther.begin(), kOther.end(), name) == kOther.end())
        throw Error(Errc::unknown_name, fmt::format("there is no column \"{}\"", name), at(header),
                    did_you_mean(name, known));
      columns_.push_back(column);
    }
  }

  Measurement read(const CsvRow& line) const {
    if (line.cells.size() != columns_.size())
      fail(line, fmt::format("{} cells under {} columns", line.cells.size(), columns_.size()));
    Value row = Value::Map(), spec = Value::Map();
    row.set("id", fmt::format("line {}", line.line));
    row.set("source", where_);
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (!line.cells[i].empty())
        set(columns_[i], line.cells[i], fmt::format("{}: {}", at(line), columns_[i].name), row, spec);
    if (spec.as_map()->empty()) {
      row.set("predict_reason", "the table says nothing of a model");
    } else {
      if (const Value* model = spec.find("model")) row.set("model", *model);
      if (const Value* gpus = spec.find("gpus")) row.set("n_gpus", *gpus);
      if (const Value* rank = spec.find("rank")) row.set("rank", *rank);
      row.set("predict", spec);
    }
    if (!row.find("run")) row.set("run_reason", "the table says no command");
    return read_measurement(row, at(line));
  }

 private:
  static constexpr std::array kOther{"measured_gib", "measured_mib", "command", "environment", "spec"};

  static Value read_cell(const FieldDescription& field, const std::string& text, const std::string& where) {
    return value_from_text(field, text, where);
  }

  void set(const Column& column, const std::string& text, const std::string& where, Value& row, Value& spec) const {
    if (column.own) return row.set(column.name, read_cell(*column.own, text, where));
    if (column.spec) return set_nested(spec, column.name, read_cell(*column.spec, text, where));
    if (column.name == "measured_gib") return set_rounded(row, text, 1LL << 30, where);
    if (column.name == "measured_mib") return set_rounded(row, text, 1LL << 20, where);
    if (column.name == "spec") return spec.set("spec", text);
    Value run = row.find("run") ? *row.find("run") : Value(Value::Map());
    row.set("run", column.name == "command" ? merged(run, run_of(text, where)) : (run.set("environment", text), run));
  }

  std::string at(const CsvRow& row) const { return fmt::format("{}: line {}", where_, row.line); }
  [[noreturn]] void fail(const CsvRow& row, const std::string& what) const {
    throw Error(Errc::bad_file, what, at(row));
  }

  const std::string& where_;
  std::vector<FieldDescription> own_fields_ = describe_fields<Measurement>(), spec_fields_ = describe_fields<Spec>();
  std::vector<Column> columns_;
};

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, const std::string& where) { return CsvParser(text, where).read(); }

std::vector<Measurement> read_measurements_csv(std::string_view text, const std::string& where) {
  const std::vector<CsvRow> table = read_csv(text, where);
  if (table.size() < 2) throw Error(Errc::bad_file, "it has no rows", where, "the first line names the columns");
  TableReader reader(where);
  reader.read_header(table.front());
  std::vector<Measurement> rows;
  for (std::size_t i = 1; i < table.size(); ++i) rows.push_back(reader.read(table[i]));
  return rows;
}

}  // namespace tidemark::io
