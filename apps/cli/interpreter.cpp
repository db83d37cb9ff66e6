#include "interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "process.h"

namespace tidemark::cli {
namespace {

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// python, python3, python3.11, pypy3
bool names_python(const std::string& word) {
  std::string name = base_name(word);
  for (const char* stem : {"python", "pypy"}) {
    if (!name.starts_with(stem)) continue;
    const std::string version = name.substr(std::string_view(stem).size());
    return std::all_of(version.begin(), version.end(),
                       [](unsigned char c) { return std::isdigit(c) || c == '.' || c == 't' || c == 'd'; });
  }
  return false;
}

std::vector<std::string> split_words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string unquoted(std::string word) {
  std::erase_if(word, [](char c) { return c == '"' || c == '\''; });
  return word;
}

std::string read_first_lines(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(1024, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string nearest_file(const std::filesystem::path& missing) {
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = missing.has_parent_path() ? missing.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (names.size() >= 1000) break;
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return did_you_mean(missing.filename().string(), names);
}

void require_script(const std::filesystem::path& script) {
  std::error_code error;
  // A folder or a zip file with a __main__.py is a program too.
  if (!std::filesystem::exists(script, error))
    throw Error(Errc::not_found, fmt::format("the script {} does not exist", script.string()), {},
                nearest_file(script));
}

Interpreter from_python(const std::string& python, const std::vector<std::string>& arguments) {
  Interpreter result{{python}, std::nullopt};
  if (const auto script = script_argument(arguments)) {
    require_script(*script);
    result.script = *script;
  }
  return result;
}

[[noreturn]] void command_not_found(const std::string& command) {
  std::error_code error;
  std::string hint;
  if (command.ends_with(".py") && std::filesystem::exists(command, error))
    hint = fmt::format("write: tidemark run … -- python {}", command);
  else if (std::filesystem::exists(command, error))
    hint = "the file is there, but it is not a program";
  throw Error(Errc::not_found, fmt::format("command not found: {}", command), {}, hint);
}

std::string resolve(const std::string& command, const Environment& environment) {
  const auto found = find_command(command, environment);
  if (!found) command_not_found(command);
  return found->string();
}

}  // namespace

std::optional<std::string> script_argument(const std::vector<std::string>& python_arguments) {
  for (std::size_t i = 0; i < python_arguments.size(); ++i) {
    const std::string& word = python_arguments[i];
    if (word == "-" || word.empty()) return std::nullopt;
    if (word[0] != '-') return word;
    if (word == "--check-hash-based-pycs") ++i;
    if (word.starts_with("--")) continue;
    // -c and -m end the options, also inside a cluster (-um pkg); -W and -X take a value, attached or next.
    const std::size_t stop = word.find_first_of("cmWX", 1);
    if (stop == std::string::npos) continue;
    if (word[stop] == 'c' || word[stop] == 'm') return std::nullopt;
    if (stop + 1 == word.size()) ++i;
  }
  return std::nullopt;
}

std::vector<std::string> python_of_script(std::string_view first_lines) {
  if (!first_lines.starts_with("#!")) return {};
  std::istringstream stream{std::string(first_lines.substr(2))};
  std::string line;
  std::getline(stream, line);
  std::vector<std::string> words = split_words(line);
  if (words.empty()) return {};
  if (base_name(words[0]) == "sh" && std::getline(stream, line)) {
    words = split_words(line);
    if (words.size() < 2 || unquoted(words[0]) != "exec") return {};
    words = {unquoted(words[1])};
  }
  if (base_name(words[0]) == "env") {
    words.erase(words.begin());
    std::erase_if(words, [](const std::string& word) { return word == "-S" || word.find('=') != std::string::npos; });
  }
  if (words.empty() || !names_python(words[0])) return {};
  return words;
}

Interpreter find_interpreter(const std::vector<std::string>& command, const Environment& environment) {
  if (command.empty())
    throw Error(Errc::usage, "which program? Write it after --", {}, "tidemark run --gpu NAME -- python train.py");
  const std::string program = resolve(command[0], environment);
  const std::vector<std::string> arguments(command.begin() + 1, command.end());
  if (names_python(program)) return from_python(program, arguments);
  std::vector<std::string> words = python_of_script(read_first_lines(program));
  if (!words.empty()) {
    words[0] = resolve(words[0], environment);
    return {words, program};
  }
  // A wrapper (env, nice, bash -c, uv run, …): the Python that it names, or the first on the PATH.
  const auto named = std::find_if(arguments.begin(), arguments.end(), [&](const std::string& word) {
    return names_python(word) && find_command(word, environment);
  });
  if (named != arguments.end()) return from_python(resolve(*named, environment), {named + 1, arguments.end()});
  for (const char* python : {"python", "python3"})
    if (const auto found = find_command(python, environment)) return {{found->string()}, std::nullopt};
  throw Error(Errc::not_found, fmt::format("{} runs no Python that could be found", command[0]), {},
              "name the interpreter: tidemark run … -- python train.py");
}

}  // namespace tidemark::cli
