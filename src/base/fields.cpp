#include "base/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "base/number.h"

namespace tidemark {
namespace {

[[noreturn]] void refuse_name(const std::string& name, const FieldInfo& info, const std::string& where) {
  const std::vector<std::string> known(info.names.begin(), info.names.end());
  const std::string near = did_you_mean(name, known);
  throw Error(Errc::bad_value, fmt::format("\"{}\" is not one of {}", name, fmt::join(known, ", ")), where, near);
}

std::string range_text(const FieldInfo& info) {
  if (std::isinf(info.high)) return fmt::format("at least {}", info.low);
  if (std::isinf(info.low)) return fmt::format("at most {}", info.high);
  return fmt::format("between {} and {}", info.low, info.high);
}

Value::List split(const std::string& text) {
  Value::List parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    if (comma > from) parts.emplace_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

// "q_proj,v_proj" are names; with anything that no module's name holds, such as ".*_proj", it is a pattern and one
// text.
bool are_names(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == ',';
  });
}

Value plain_value(FieldKind kind, const std::string& text, const ValuePath& path) {
  switch (kind) {
    case FieldKind::boolean:
      if (text == "true" || text == "false") return text == "true";
      fail_expected("true or false", text, path);
    case FieldKind::integer:
      if (const auto number = parse_number<std::int64_t>(text)) return *number;
      fail_expected("a whole number", text, path);
    case FieldKind::real:
      if (const auto number = parse_number<double>(text); number && std::isfinite(*number)) return *number;
      fail_expected("a number", text, path);
    case FieldKind::list: return split(text);
    case FieldKind::text_or_list: return are_names(text) ? Value(split(text)) : Value(text);
    default: return text;
  }
}

}  // namespace

Value value_from_text(const FieldDescription& field, const std::string& text, const std::string& where) {
  const ValuePath path{where, {}};
  if (field.optional && text == "none") return {};
  if (field.kind == FieldKind::list && field.element == FieldKind::integer) {
    FieldDescription element = field;
    element.kind = FieldKind::integer;
    Value::List numbers;
    for (const Value& part : split(text)) numbers.push_back(value_from_text(element, *part.as_text(), where));
    return numbers;
  }
  Value value = plain_value(field.kind, text, path);
  // Checked here already, so that the message names the option and not the key.
  if (field.kind == FieldKind::integer || field.kind == FieldKind::real)
    fields_detail::check_range(to_real(value, path), value, field.info, path);
  if (field.kind == FieldKind::choice) fields_detail::index_of_name(value, field.info, path);
  return value;
}

namespace fields_detail {

void check_range(double value, const Value& found, const FieldInfo& info, const ValuePath& path) {
  if (value < info.low || value > info.high) fail_expected("a number " + range_text(info), found, path);
}

std::size_t index_of_name(const Value& value, const FieldInfo& info, const ValuePath& path) {
  // YAML knows `auto`, but `true` and `none` would not arrive as texts everywhere.
  const std::string name = value.as_bool() ? value.quoted() : value.is_null() ? "none" : to_text(value, path);
  const auto found = std::find(info.names.begin(), info.names.end(), name);
  if (found == info.names.end()) refuse_name(name, info, path.text(value.line()));
  return static_cast<std::size_t>(found - info.names.begin());
}

std::string read_text(const Value& value, const FieldInfo& info, const ValuePath& path) {
  if (!info.names.empty()) return std::string(info.names[index_of_name(value, info, path)]);
  if ((info.number_is_text && value.as_integer()) || (info.truth_is_text && value.as_bool())) return value.quoted();
  return to_text(value, path);
}

TextOrList read_text_or_list(const Value& value, const ValuePath& path) {
  if (const std::string* text = value.as_text()) return *text;
  if (!value.as_list()) fail_expected("a text or a list of texts", value, path);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < value.as_list()->size(); ++i) texts.push_back(to_text((*value.as_list())[i], path[i]));
  return texts;
}

Value write_text_or_list(const TextOrList& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  Value::List list;
  for (const std::string& text : std::get<std::vector<std::string>>(value)) list.emplace_back(text);
  return list;
}

void read_map(const Value& value, const VisitAll& fields, const ValuePath& path, const KeyNames& harmless,
              KeyNames passed_over) {
  ValueReader reader(value, path);
  fields([&](std::string_view name, FieldPlace place, const FieldInfo& info) {
    if (const Value* found = reader.find(name)) place.type.read(*found, place.address, info, path / name, harmless);
  });
  passed_over.insert(passed_over.end(), harmless.begin(), harmless.end());
  reader.finish(passed_over);
}

Value write_map(const VisitAll& fields) {
  Value map = Value::Map();
  fields([&](std::string_view name, FieldPlace place, const FieldInfo& info) {
    map.set(name, place.type.write(place.address, info));
  });
  return map;
}

std::vector<FieldDescription> describe_map(const VisitAll& fields) {
  std::vector<FieldDescription> result;
  fields([&](std::string_view name, FieldPlace place, const FieldInfo& info) {
    FieldDescription field{.name = std::string(name), .info = info, .initial = place.type.write(place.address, info)};
    place.type.describe(info, field);
    result.push_back(std::move(field));
  });
  return result;
}

}  // namespace fields_detail
}  // namespace tidemark
