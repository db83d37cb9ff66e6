// A configuration struct lists its fields once, and everything else follows from the list: reading it from a Value,
// writing it, its JSON Schema, the options of the command line, the table in the documents.
//
//   struct Decoder {
//     std::int64_t hidden_size = 4096;
//     template <class Self, class Visit>
//     static void fields(Self& self, Visit&& visit) {
//       visit("hidden_size", self.hidden_size, FieldInfo{.help = "width of the residual stream", .low = 1, .high =
//       1e6});
//     }
//     static KeyNames harmless() { return {"initializer_range", "_*"}; }  // optional: keys to pass over
//   };
//
// A field is a bool, an int64, a double, a text, an enum (its names in order), one of these in std::optional (null:
// none) or std::vector, TextOrList, a std::map from names that the user chooses to one of these, a Value as it is, or a
// struct with fields of its own, in std::optional too.  A field that the file does not have keeps the value that the
// struct was made with.
#pragma once
#include <concepts>
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

template <class T>
concept HasFields = requires(T& config) { T::fields(config, [](std::string_view, auto&, const FieldInfo&) {}); };

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

template <HasFields T>
void read_map(const Value& value, T& config, const ValuePath& path, const KeyNames& harmless);

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
    read_map(value, out, path, harmless);
  }
}

template <HasFields T>
void read_map(const Value& value, T& config, const ValuePath& path, const KeyNames& harmless) {
  ValueReader reader(value, path);
  T::fields(config, [&](std::string_view name, auto& member, const FieldInfo& info) {
    if (const Value* found = reader.find(name)) read_one(*found, member, info, path / name, harmless);
  });
  KeyNames passed_over = harmless_of<T>();
  passed_over.insert(passed_over.end(), harmless.begin(), harmless.end());
  reader.finish(passed_over);
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
    Value map = Value::Map();
    T::fields(value, [&](std::string_view name, const auto& member, const FieldInfo& inner) {
      map.set(name, write_one(member, inner));
    });
    return map;
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

}  // namespace fields_detail

/// Reads what is there and leaves the rest as it is.  Throws Error{bad_value} and, for a key that is neither a field
/// nor harmless, Error{unknown_name}.  `harmless` counts on every level, T::harmless() on that of T.
template <HasFields T>
void read_fields(const Value& value, T& config, const ValuePath& path = {}, const KeyNames& harmless = {}) {
  fields_detail::read_map(value, config, path, harmless);
}

/// All fields, in their order; read_fields gives the same struct back.
template <HasFields T>
Value write_fields(const T& config) {
  return fields_detail::write_one(config, {});
}

template <HasFields T>
std::vector<FieldDescription> describe_fields(const T& initial = {}) {
  std::vector<FieldDescription> result;
  T::fields(initial, [&]<class Member>(std::string_view name, const Member& member, const FieldInfo& info) {
    using namespace fields_detail;
    FieldDescription field{.name = std::string(name), .info = info, .initial = write_one(member, info)};
    const auto fill = [&]<class Plain>(const Plain*) {
      field.kind = kind_of<Plain>(info);
      if constexpr (Inner<Plain>::is_list || Inner<Plain>::is_named) {
        using Element = typename Inner<Plain>::type;
        field.element = kind_of<Element>(info);
        if constexpr (HasFields<Element>) field.fields = describe_fields<Element>();
      }
      if constexpr (HasFields<Plain>) field.fields = describe_fields<Plain>();
    };
    if constexpr (Inner<Member>::is_optional) {
      field.optional = true;
      fill(static_cast<const typename Inner<Member>::type*>(nullptr));
    } else {
      fill(static_cast<const Member*>(nullptr));
    }
    result.push_back(std::move(field));
  });
  return result;
}

}  // namespace tidemark
