#include "io/fields_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tidemark::io {
namespace {

Value texts(std::span<const std::string_view> names) {
  Value::List list;
  for (std::string_view name : names) list.emplace_back(name);
  return list;
}

Value type_schema(const FieldDescription& field, FieldKind kind);

Value with_range(const char* type, const FieldInfo& info) {
  Value schema = Value::Map{{"type", type}};
  const auto bound = [&](double limit) {
    return limit == std::floor(limit) && std::abs(limit) < 1e15 ? Value(static_cast<std::int64_t>(limit))
                                                                : Value(limit);
  };
  if (std::isfinite(info.low)) schema.set("minimum", bound(info.low));
  if (std::isfinite(info.high)) schema.set("maximum", bound(info.high));
  return schema;
}

Value type_schema(const FieldDescription& field, FieldKind kind) {
  switch (kind) {
    case FieldKind::boolean: return Value::Map{{"type", "boolean"}};
    case FieldKind::integer: return with_range("integer", field.info);
    case FieldKind::real: return with_range("number", field.info);
    case FieldKind::text:
      if (field.info.truth_is_text) return Value::Map{{"type", Value::List{"string", "integer", "boolean"}}};
      if (field.info.number_is_text) return Value::Map{{"type", Value::List{"string", "integer"}}};
      return Value::Map{{"type", "string"}};
    case FieldKind::choice: {
      // `true`, `false` and `null` reach a choice without quotes in YAML.
      Value names = texts(field.info.names);
      const auto offer = [&](std::string_view name, Value plain) {
        if (std::ranges::find(field.info.names, name) != field.info.names.end()) names.append(std::move(plain));
      };
      offer("true", true), offer("false", false), offer("none", {});
      return Value::Map{{"enum", std::move(names)}};
    }
    case FieldKind::list: return Value::Map{{"type", "array"}, {"items", type_schema(field, field.element)}};
    case FieldKind::named:
      return Value::Map{{"type", "object"}, {"additionalProperties", type_schema(field, field.element)}};
    case FieldKind::text_or_list:
      return Value::Map{{"type", Value::List{"string", "array"}}, {"items", Value::Map{{"type", "string"}}}};
    case FieldKind::map: return schema_of_fields(field.fields);
    case FieldKind::any: return Value::Map{{"type", Value::List{"string", "object", "null"}}};
  }
  return {};
}

Value field_schema(const FieldDescription& field) {
  Value schema = type_schema(field, field.kind);
  if (field.optional) {
    Value either = Value::List{std::move(schema), Value::Map{{"type", "null"}}};
    schema = Value::Map{{"anyOf", std::move(either)}};
  }
  schema.set("description", field.info.help);
  schema.set("default", field.initial);
  return schema;
}

std::string type_text(const FieldDescription& field) {
  switch (field.kind) {
    case FieldKind::boolean: return "true or false";
    case FieldKind::integer: return "whole number";
    case FieldKind::real: return "number";
    case FieldKind::text:
      if (field.info.truth_is_text) return "text, whole number, true or false";
      return field.info.number_is_text ? "text or whole number" : "text";
    case FieldKind::choice: return fmt::format("`{}`", fmt::join(field.info.names, "`, `"));
    case FieldKind::list:
      if (field.element == FieldKind::map) return "list of maps";
      return field.element == FieldKind::integer ? "list of whole numbers" : "list of texts";
    case FieldKind::named:
      if (field.element == FieldKind::map) return "maps by name";
      return field.element == FieldKind::integer ? "whole numbers by name" : "texts by name";
    case FieldKind::text_or_list: return "text or list of texts";
    case FieldKind::map: return "map";
    case FieldKind::any: return "text or map";
  }
  return {};
}

std::string default_text(const FieldDescription& field) {
  const Value& initial = field.initial;
  const std::string* text = initial.as_text();
  const bool empty = initial.is_null() || (text && text->empty()) ||
                     (initial.as_list() && initial.as_list()->empty()) ||
                     (initial.as_map() && initial.as_map()->empty());
  return empty ? "" : fmt::format("`{}`", text ? *text : initial.quoted());
}

const char* path_into(FieldKind kind) {
  if (kind == FieldKind::named) return ".NAME.";
  return kind == FieldKind::list ? "[]." : ".";
}

}  // namespace

Value schema_of_fields(const std::vector<FieldDescription>& fields) {
  Value properties = Value::Map();
  for (const FieldDescription& field : fields) properties.set(field.name, field_schema(field));
  return Value::Map{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

std::string table_of_fields(const std::vector<FieldDescription>& fields, const std::string& prefix) {
  std::string text;
  std::string_view group;
  for (const FieldDescription& field : fields) {
    if (prefix.empty() && field.info.group != group) {
      group = field.info.group;
      text += fmt::format("\n## {}\n\n| key | value | default | |\n| --- | --- | --- | --- |\n", group);
    }
    text += fmt::format("| `{}{}` | {} | {} | {} |\n", prefix, field.name, type_text(field), default_text(field),
                        field.info.help);
    text += table_of_fields(field.fields, prefix + field.name + path_into(field.kind));
  }
  return text;
}

}  // namespace tidemark::io
