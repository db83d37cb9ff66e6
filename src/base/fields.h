// A configuration struct lists its fields once, and everything else follows from the list: reading it from a Value,
// writing it, its JSON Schema, the options of the command line, the table in the documents.
//
//   struct Decoder {
//     std::int64_t hidden_size = 4096;
//     static void fields(Decoder& self, const FieldVisitor& visit);
//     static KeyNames harmless() { return {"initializer_range", "_*"}; }  // optional: keys to pass over
//   };
//   void Decoder::fields(Decoder& self, const FieldVisitor& visit) {   // in the source file: it is compiled once
//     visit("hidden_size", self.hidden_size, FieldInfo{.help = "width of the residual stream", .low = 1});
//   }
//
// A field is a bool, an int64, a double, a text, an enum (its names in order), one of these in std::optional (null:
// none) or std::vector, TextOrList, a std::map from names that the user chooses to one of these, a Value as it is, or a
// struct with fields of its own, in std::optional too.  A field that the file does not have keeps the value that the
// struct was made with.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/value_reader.h"

namespace tidemark {

/// What there is to know of a field besides its name and type.  All texts are literals.
struct FieldInfo {
  std::string_view help = {};
  std::string_view placeholder = {};             // stands for the value in a help text: "SIZE"
  std::string_view group = {};                   // heading under which a help text shows it
  std::span<const std::string_view> names = {};  // of an enum's values, in order; of a text, all that it may be
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::string_view negated = {};  // the help text of the option that turns a true field off
  bool number_is_text = false;    // a text that a bare number may stand for: `image_size: 336`
  bool truth_is_text = false;     // likewise true and false
};

/// A text, or a list of texts that means something else.
using TextOrList = std::variant<std::string, std::vector<std::string>>;

enum class FieldKind { boolean, integer, real, text, choice, list, text_or_list, map, named, any };

/// A field as data, for whoever makes something of all fields.
struct FieldDescription {
  std::string name;
  FieldKind kind = FieldKind::any;
  FieldKind element = FieldKind::any;  // of a list, or of what has names of the user's
  bool optional = false;               // null stands for none
  FieldInfo info;
  Value initial = {};                         // what it is when nothing is said; null for an optional one
  std::vector<FieldDescription> fields = {};  // of a map, or of the maps in a list or under the user's names
};

/// How fields of one type are read, written and described.
struct FieldType {
  void (*read)(const Value& value, void* field, const FieldInfo& info, const ValuePath& path, const KeyNames& harmless);
  Value (*write)(const void* field, const FieldInfo& info);
  void (*describe)(const FieldInfo& info, FieldDescription& description);
};

/// A field of any type, where its struct is.
struct FieldPlace {
  template <class T>
    requires(!std::same_as<T, FieldPlace>)
  FieldPlace(T& field);

  void* address;
  const FieldType& type;
};

using FieldVisitor = std::function<void(std::string_view name, FieldPlace place, const FieldInfo& info)>;

template <class T>
concept HasFields = requires(T& config, const FieldVisitor& visit) { T::fields(config, visit); };

/// The value that a text of the command line stands for: "3", "true", "a,b".  Throws Error{bad_value}; `where` is the
/// option.
Value value_from_text(const FieldDescription& field, const std::string& text, const std::string& where);

namespace fields_detail {

void check_range(double value, const Value& found, const FieldInfo& info, const ValuePath& path);
std::size_t index_of_name(const Value& value, const FieldInfo& info, const ValuePath& path);
std::string read_text(const Value& value, const FieldInfo& info, const ValuePath& path);
TextOrList read_text_or_list(const Value& value, const ValuePath& path);
Value write_text_or_list(const TextOrList& value);

template <class T>
struct Inner {
  static constexpr bool is_optional = false, is_list = false, is_named = false;
};
template <class T>
struct Inner<std::optional<T>> {
  using type = T;
  static constexpr bool is_optional = true, is_list = false, is_named = false;
};
template <class T>
struct Inner<std::vector<T>> {
  using type = T;
  static constexpr bool is_optional = false, is_list = true, is_named = false;
};
template <class T>
struct Inner<std::map<std::string, T>> {
  using type = T;
  static constexpr bool is_optional = false, is_list = false, is_named = true;
};

template <class T>
KeyNames harmless_of() {
  if constexpr (requires { T::harmless(); })
    return T::harmless();
  else
    return {};
}

/// Gives every field of one struct to a visitor.
using VisitAll = std::function<void(const FieldVisitor& visit)>;

// Writing and describing change nothing.
template <HasFields T>
VisitAll all_of(const T& config) {
  return [&config](const FieldVisitor& visit) { T::fields(const_cast<T&>(config), visit); };
}

void read_map(const Value& value, const VisitAll& fields, const ValuePath& path, const KeyNames& harmless,
              KeyNames passed_over);
Value write_map(const VisitAll& fields);
std::vector<FieldDescription> describe_map(const VisitAll& fields);

template <class T>
void read_one(const Value& value, T& out, const FieldInfo& info, const ValuePath& path, const KeyNames& harmless) {
  using Traits = Inner<T>;
  if constexpr (std::same_as<T, Value>) {
    out = value;
  } else if constexpr (std::same_as<T, bool>) {
    out = to_bool(value, path);
  } else if constexpr (std::same_as<T, std::int64_t>) {
    out = to_integer(value, path);
    check_range(static_cast<double>(out), value, info, path);
  } else if constexpr (std::same_as<T, double>) {
    out = to_real(value, path);
    check_range(out, value, info, path);
  } else if constexpr (std::same_as<T, std::string>) {
    out = read_text(value, info, path);
  } else if constexpr (std::is_enum_v<T>) {
    out = static_cast<T>(index_of_name(value, info, path));
  } else if constexpr (std::same_as<T, TextOrList>) {
    out = read_text_or_list(value, path);
  } else if constexpr (Traits::is_optional) {
    if (value.is_null()) {
      out.reset();
    } else {
      typename Traits::type inner{};
      read_one(value, inner, info, path, harmless);
      out = std::move(inner);
    }
  } else if constexpr (Traits::is_list) {
    const Value::List& list = to_list(value, path);
    out.clear();
    for (std::size_t i = 0; i < list.size(); ++i) {
      typename Traits::type element{};
      read_one(list[i], element, info, path[i], harmless);
      out.push_back(std::move(element));
    }
  } else if constexpr (Traits::is_named) {
    if (!value.as_map()) fail_expected("a map", value, path);
    out.clear();
    for (const Value::Item& item : *value.as_map())
      read_one(item.value, out[item.key], info, path / item.key, harmless);
  } else {
    static_assert(HasFields<T>, "a field of a type that base/fields.h does not read");
    read_map(value, all_of(out), path, harmless, harmless_of<T>());
  }
}

template <class T>
Value write_one(const T& value, const FieldInfo& info) {
  using Traits = Inner<T>;
  if constexpr (std::is_enum_v<T>) {
    return Value(info.names[static_cast<std::size_t>(value)]);
  } else if constexpr (std::same_as<T, TextOrList>) {
    return write_text_or_list(value);
  } else if constexpr (Traits::is_optional) {
    return value ? write_one(*value, info) : Value();
  } else if constexpr (Traits::is_list) {
    Value::List list;
    for (const auto& element : value) list.push_back(write_one(element, info));
    return list;
  } else if constexpr (Traits::is_named) {
    Value map = Value::Map();
    for (const auto& [name, element] : value) map.append(name, write_one(element, info));
    return map;
  } else if constexpr (HasFields<T>) {
    return write_map(all_of(value));
  } else {
    return Value(value);
  }
}

template <class T>
constexpr FieldKind kind_of(const FieldInfo& info) {
  if (std::is_enum_v<T> || (std::same_as<T, std::string> && !info.names.empty())) return FieldKind::choice;
  if (std::same_as<T, bool>) return FieldKind::boolean;
  if (std::same_as<T, std::int64_t>) return FieldKind::integer;
  if (std::same_as<T, double>) return FieldKind::real;
  if (std::same_as<T, std::string>) return FieldKind::text;
  if (std::same_as<T, TextOrList>) return FieldKind::text_or_list;
  if (Inner<T>::is_list) return FieldKind::list;
  if (Inner<T>::is_named) return FieldKind::named;
  return HasFields<T> ? FieldKind::map : FieldKind::any;
}

template <class T>
void describe_one(const FieldInfo& info, FieldDescription& description) {
  if constexpr (Inner<T>::is_optional) {
    describe_one<typename Inner<T>::type>(info, description);
    description.optional = true;
  } else {
    description.kind = kind_of<T>(info);
    if constexpr (HasFields<T>) description.fields = describe_map(all_of(T()));
    if constexpr (Inner<T>::is_list || Inner<T>::is_named) {
      using Element = typename Inner<T>::type;
      description.element = kind_of<Element>(info);
      if constexpr (HasFields<Element>) description.fields = describe_map(all_of(Element()));
    }
  }
}

template <class T>
inline constexpr FieldType kTypeOf{
    [](const Value& value, void* field, const FieldInfo& info, const ValuePath& path, const KeyNames& harmless) {
      read_one(value, *static_cast<T*>(field), info, path, harmless);
    },
    [](const void* field, const FieldInfo& info) { return write_one(*static_cast<const T*>(field), info); },
    &describe_one<T>};

}  // namespace fields_detail

template <class T>
  requires(!std::same_as<T, FieldPlace>)
FieldPlace::FieldPlace(T& field) : address(&field), type(fields_detail::kTypeOf<T>) {}

/// Reads what is there and leaves the rest as it is.  Throws Error{bad_value} and, for a key that is neither a field
/// nor harmless, Error{unknown_name}.  `harmless` counts on every level, T::harmless() on that of T.
template <HasFields T>
void read_fields(const Value& value, T& config, const ValuePath& path = {}, const KeyNames& harmless = {}) {
  fields_detail::read_one(value, config, {}, path, harmless);
}

/// All fields, in their order; read_fields gives the same struct back.
template <HasFields T>
Value write_fields(const T& config) {
  return fields_detail::write_map(fields_detail::all_of(config));
}

template <HasFields T>
std::vector<FieldDescription> describe_fields(const T& initial = {}) {
  return fields_detail::describe_map(fields_detail::all_of(initial));
}

}  // namespace tidemark
