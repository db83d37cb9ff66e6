#include "program/family_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "program/config_names.h"
#include "program/config_paths.h"
#include "program/layer_lists.h"

namespace tidemark {
namespace {

bool counts_layers(std::string_view name) {
  return std::ranges::count(kLayerNames, name) + std::ranges::count(kPartLayerNames, name) > 0;
}

/// Beyond this a tensor's size would overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

bool is_whole_literal(std::string_view text) {
  return is_literal(text) && text.find_first_not_of("-0123456789") == std::string_view::npos;
}

/// A class whose default is a number takes no word for it, and none is built without layers.
void check_number(const Key& key, const std::string& path, const Value& value) {
  if (is_whole_literal(key.fallback) && (value.as_text() || value.as_bool()))
    throw Error(Errc::bad_value, fmt::format("expected a number, found {}", told(value)), "config.json: " + path);
  const std::string name = path.substr(path.rfind('.') + 1);
  const std::int64_t* number = value.as_integer();
  if (number && (*number > kLargest || *number < -kLargest))
    throw Error(Errc::bad_value, fmt::format("expected a number of at most {}, found {}", kLargest, *number),
                "config.json: " + path);
  if (number && *number < 1 && counts_layers(name))
    throw Error(Errc::bad_value, fmt::format("expected at least 1, found {}", *number), "config.json: " + path);
}

/// A number that a class takes for each layer, too (transformers 5.23.0: configuration_gemma3n.py, intermediate_size):
/// of entries that are one it is that.
const Value& alike(const Key& key, const Value& value) {
  const Value::List* entries = is_whole_literal(key.fallback) ? value.as_list() : nullptr;
  if (!entries || entries->empty() || !entries->front().as_integer()) return value;
  const bool are_one =
      std::all_of(entries->begin(), entries->end(), [&](const Value& each) { return each == entries->front(); });
  return are_one ? entries->front() : value;
}

}  // namespace

bool is_literal(std::string_view text) {
  if (text.empty()) return false;
  return text.find_first_of("\"[{") == 0 || text == "true" || text == "false" || text == "null" ||
         text.find_first_not_of("+-.0123456789e") == std::string_view::npos;
}

std::string told(const Value& value) {
  if (const std::int64_t* number = value.as_integer()) return std::to_string(*number);
  if (const double* real = value.as_real()) return fmt::format("{}", *real);
  if (const bool* flag = value.as_bool()) return *flag ? "true" : "false";
  return value.quoted();
}

Key read_key(LineReader& reader, ReadValue read_value, const std::string& file) {
  Key key{.path = reader.name("_."), .fallback = {}, .others = {}};
  reader.expect("=");
  key.fallback = reader.until(";");
  while (key.fallback.ends_with(' ')) key.fallback.pop_back();
  while (reader.take(";")) {
    if (reader.take_word("null")) key.null_is_absent = true;
    if (reader.take_word("older")) {
      reader.at_end();
      key.older = read_value(reader.until(";"), file);
    }
    if (reader.take_word("letters")) {
      const std::string word = reader.name("_.");
      reader.at_end();
      key.words.emplace(word, read_value(reader.until(";"), file));
    }
    if (!reader.take_word("also")) continue;
    while (!reader.at_end() && !reader.rest().starts_with(';')) key.others.push_back(reader.name("_."));
  }
  return key;
}

void find_value(Key& key, const Value& config) {
  std::vector<std::string> paths{key.path};
  paths.insert(paths.end(), key.others.begin(), key.others.end());
  for (const std::string& path : paths) {
    const Value* found = find_path(config, path);
    if (!found || (found->is_null() && key.null_is_absent)) continue;
    const Value& value = alike(key, *found);
    check_number(key, path, value);
    key.value = as_now(value, key.older);
    key.is_known = true;
    return;
  }
  for (const auto& [word, letters] : key.words)
    if (const Value* found = find_path(config, word); found && found->as_text()) {
      const std::optional<Value> spelled = list_of_letters(*found->as_text(), letters);
      if (!spelled)
        throw Error(Errc::bad_value, fmt::format("a letter of \"{}\" stands for no layer", *found->as_text()),
                    "config.json: " + word);
      key.value = *spelled;
      key.is_known = true;
      return;
    }
}

}  // namespace tidemark
