#include "program/config_paths.h"

#include <algorithm>
#include <cctype>

namespace tidemark {

const Value* find_path(const Value& config, std::string_view path) {
  const Value* found = &config;
  while (found && !path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(key.size() + 1, path.size()));
    found = found->find(key);
  }
  return found;
}

void set_path(Value& config, std::string_view path, const Value& value) {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  if (dot == std::string_view::npos) return config.set(key, value);
  const Value* inner = config.find(key);
  Value changed = inner && inner->as_map() ? *inner : Value(Value::Map());
  set_path(changed, path.substr(dot + 1), value);
  config.set(key, std::move(changed));
}

bool names_path(std::string_view text, std::string_view path) {
  const auto is_of_a_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(path); at != std::string_view::npos; at = text.find(path, at + 1)) {
    const std::size_t end = at + path.size();
    const bool begins = at == 0 || !(is_of_a_word(text[at - 1]) || text[at - 1] == '.');
    if (begins && (end == text.size() || !is_of_a_word(text[end]))) return true;
  }
  return false;
}

}  // namespace tidemark
