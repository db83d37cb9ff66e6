// The environment that the child gets, as a value.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::cli {

class Environment {
 public:
  static Environment of_this_process();

  std::optional<std::string> get(const std::string& name) const;
  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  void unset(const std::string& name) { values_.erase(name); }
  /// Adds to a list that colons separate, in front or at the end.
  void prepend(const std::string& name, const std::string& value);
  void append(const std::string& name, const std::string& value);

  /// "NAME=value" strings, for execve.
  std::vector<std::string> strings() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace tidemark::cli
