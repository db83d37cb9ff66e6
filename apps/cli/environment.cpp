#include "environment.h"

#include <unistd.h>

namespace tidemark::cli {

Environment Environment::of_this_process() {
  Environment result;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      result.set(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return result;
}

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void Environment::prepend(const std::string& name, const std::string& value) {
  const auto old = get(name);
  set(name, old && !old->empty() ? value + ":" + *old : value);
}

void Environment::append(const std::string& name, const std::string& value) {
  const auto old = get(name);
  set(name, old && !old->empty() ? *old + ":" + value : value);
}

std::vector<std::string> Environment::strings() const {
  std::vector<std::string> result;
  for (const auto& [name, value] : values_) result.push_back(name + "=" + value);
  return result;
}

}  // namespace tidemark::cli
