// Command lines as people keep them: the command in a shell script that starts a trainer, without a shell.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/number.h"
#include "io/training_config.h"

namespace tidemark::io {
namespace {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string, std::less<>>;

bool is_name_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_'; }

/// "16 / 4 / 2" from left to right, as `expr` and $((…)) have it; nothing where it is not that.
std::optional<std::int64_t> value_of_expression(std::string text) {
  std::replace(text.begin(), text.end(), '\\', ' ');
  std::optional<std::int64_t> value;
  char operation = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
    } else if (std::isdigit(static_cast<unsigned char>(text[i]))) {
      const std::size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
      const auto number = parse_number<std::int64_t>(text.substr(i, end - i));
      constexpr std::int64_t kMost = 1 << 30;
      if (!number || *number > kMost || (value && (operation == 0 || *value > kMost))) return std::nullopt;
      if (!value)
        value = *number;
      else if (operation == '*')
        value = *value * *number;
      else if (operation == '+')
        value = *value + *number;
      else if (operation == '-')
        value = *value - *number;
      else if (*number == 0)
        return std::nullopt;
      else
        value = *value / *number;
      operation = 0;
      i = end;
    } else {
      if (!value || operation != 0 || std::string_view("+-*/").find(text[i]) == std::string_view::npos)
        return std::nullopt;
      operation = text[i++];
    }
  }
  return operation == 0 ? value : std::nullopt;
}

struct Command {
  Words words;
  Variables environment;  // in front of it, or exported before it
};

/// Commands as words: quotes, line ends behind a backslash and variables as sh has them.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Command> split() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char letter = text_[i];
      if (letter == '$' && quote_ != '\'') {
        i = add_expansion(i);
      } else if (quote_ != 0) {
        if (letter == quote_)
          quote_ = 0;
        else
          add(letter);
      } else if (letter == '\\' && i + 1 < text_.size()) {
        i += text_.substr(i + 1).starts_with("\r\n") ? 2 : 1;
        if (text_[i] != '\n')
          add(text_[i]);
        else
          end_word();
      } else if (letter == '\'' || letter == '"') {
        quote_ = letter;
        in_word_ = true;
      } else if (letter == '#' && !in_word_) {
        i = std::min(text_.find('\n', i), text_.size()) - 1;
      } else if (letter == '\n' || letter == ';' || letter == '&' || letter == '|') {
        end_command();
      } else if (std::isspace(static_cast<unsigned char>(letter))) {
        end_word();
      } else {
        add(letter);
      }
    }
    end_command();
    return std::move(commands_);
  }

 private:
  void add(char letter) {
    word_ += letter;
    in_word_ = true;
  }

  void add_text(std::string_view text) {
    for (const char letter : text) add(letter);
  }

  std::string expanded(std::string_view text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '$') {
        result += text[i++];
        continue;
      }
      const bool braced = text.substr(i + 1).starts_with('{');
      const std::size_t begin = i + (braced ? 2 : 1);
      std::size_t end = begin;
      while (end < text.size() && is_name_letter(text[end])) ++end;
      const auto found = variables_.find(text.substr(begin, end - begin));
      const std::size_t after = braced ? std::min(text.find('}', end), text.size()) + 1 : end;
      if (found != variables_.end())
        result += found->second;
      else if (braced && text.substr(end).starts_with(":-"))
        result += text.substr(end + 2, after - 1 - (end + 2));
      else
        result += text.substr(i, after - i);
      i = std::min(after, text.size());
    }
    return result;
  }

  /// Adds the value of `$` at `at` to the word, or its own text without one.  Returns the index of its last letter.
  std::size_t add_expansion(std::size_t at) {
    if (text_.substr(at).starts_with("$(")) {
      std::size_t end = at + 1;
      int depth = 0;
      for (; end < text_.size(); ++end) {
        depth += text_[end] == '(' ? 1 : text_[end] == ')' ? -1 : 0;
        if (depth == 0) break;
      }
      if (end == text_.size()) return add('$'), at;
      std::string inner = expanded(text_.substr(at + 2, end - at - 2));
      if (inner.starts_with("(") && inner.ends_with(")")) inner = inner.substr(1, inner.size() - 2);
      if (inner.starts_with("expr ")) inner.erase(0, 5);
      if (const auto value = value_of_expression(inner))
        add_text(std::to_string(*value));
      else
        add_text(text_.substr(at, end - at + 1));
      return end;
    }
    std::size_t end = at + 1;
    if (text_.substr(end).starts_with('{'))
      end = std::min(text_.find('}', end), text_.size() - 1) + 1;
    else
      while (end < text_.size() && is_name_letter(text_[end])) ++end;
    add_text(expanded(text_.substr(at, end - at)));
    return end - 1;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  /// Assignments in front of a command are its environment; alone they are the script's, and `export` is for all.
  void end_command() {
    end_word();
    Command command{.words = {}, .environment = exported_};
    const bool exports = !words_.empty() && (words_[0] == "export" || words_[0] == "declare");
    for (std::string& word : words_) {
      const std::size_t equals = word.find('=');
      const bool assigns =
          equals != std::string::npos && equals > 0 &&
          std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_name_letter);
      if (!assigns || (!exports && !command.words.empty())) {
        if (word != "env" || !command.words.empty()) command.words.push_back(std::move(word));
        continue;
      }
      command.environment[word.substr(0, equals)] = word.substr(equals + 1);
      if (exports) exported_[word.substr(0, equals)] = word.substr(equals + 1);
    }
    if (exports || command.words.empty())
      for (const auto& [name, value] : command.environment) variables_[name] = value;
    if (!exports && !command.words.empty()) commands_.push_back(std::move(command));
    words_.clear();
  }

  std::string_view text_;
  std::vector<Command> commands_;
  Variables variables_, exported_;
  Words words_;
  std::string word_;
  char quote_ = 0;
  bool in_word_ = false;
};

bool is_option(const std::string& word) { return word.size() > 2 && word.starts_with("--"); }

bool is_file_of_settings(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

/// Where a trainer's own words begin: behind its program, or behind the subcommand of its command.
std::size_t begin_of_trainer(const Words& words) {
  constexpr std::array<std::string_view, 4> kCommands{"llamafactory-cli", "swift", "trl", "axolotl"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_command = std::find(kCommands.begin(), kCommands.end(), words[i]) != kCommands.end();
    if (is_command && i + 1 < words.size()) return i + 2;
    if (words[i].ends_with(".py") || (i > 0 && (words[i - 1] == "-m" || words[i - 1] == "--module"))) return i + 1;
  }
  return words.size();
}

Value value_of_words(const Words& words, std::size_t begin, std::size_t end) {
  if (begin == end) return true;
  if (end - begin == 1) return words[begin];
  return Value::List(words.begin() + static_cast<std::ptrdiff_t>(begin),
                     words.begin() + static_cast<std::ptrdiff_t>(end));
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The options in front of the trainer's program: each has one value at most.
Value launcher_of(const Words& words, std::size_t end) {
  Value launcher = Value::Map();
  if (words.empty()) return launcher;
  std::string name = base_of(words[0]);
  if (name.starts_with("python")) name = "python";
  for (std::size_t i = 0; i + 1 < std::min(end, words.size()); ++i)
    if (words[i] == "-m" && base_of(words[i + 1]).starts_with("torch.distributed")) name = "torchrun";
  launcher.set("name", name);
  if (end == 2 && words.size() > 1 && !words[1].ends_with(".py")) launcher.set("command", words[1]);
  if (end > 0 && end <= words.size()) launcher.set("program", words[end - 1]);
  for (std::size_t i = 1; i < std::min(end, words.size()); ++i) {
    if (!is_option(words[i])) continue;
    const std::size_t equals = words[i].find('=');
    const bool has_value = i + 1 < end && !is_option(words[i + 1]) && !words[i + 1].ends_with(".py");
    if (equals != std::string::npos)
      launcher.set(words[i].substr(2, equals - 2), words[i].substr(equals + 1));
    else
      launcher.set(words[i].substr(2), has_value ? Value(words[i + 1]) : Value(true));
  }
  return launcher;
}

/// "--no_KEY" is KEY that is false, of booleans that are true by default.  transformers: hf_argparser.py (5.24.0)
bool is_negated(const std::string& word) { return word.starts_with("--no_") && word != "--no_cuda"; }

/// Files that stand alone, KEY=VALUE, and options, which take the words up to the next.
void add_options(const Words& words, std::size_t begin, Value& options) {
  std::size_t i = begin;
  for (; i < words.size() && !is_option(words[i]); ++i) {
    const std::size_t equals = words[i].find('=');
    if (is_file_of_settings(words[i]) && equals == std::string::npos)
      options.set("config", words[i]);
    else if (equals != std::string::npos && equals > 0)
      options.set(words[i].substr(0, equals), words[i].substr(equals + 1));
  }
  for (; i < words.size(); ++i) {
    if (!is_option(words[i])) continue;
    const std::string& word = words[i];
    std::size_t end = i + 1;
    while (end < words.size() && !is_option(words[end])) ++end;
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      options.set(word.substr(2, equals - 2), word.substr(equals + 1));
    else if (is_negated(word) && end == i + 1)
      options.set(word.substr(5), false);
    else
      options.set(word.substr(2), value_of_words(words, i + 1, end));
  }
}

/// Counts options, and files of settings behind a trainer's program.
std::ptrdiff_t weight_of(const Command& command) {
  const auto options = std::count_if(command.words.begin(), command.words.end(), is_option);
  const auto begin = command.words.begin() + static_cast<std::ptrdiff_t>(begin_of_trainer(command.words));
  return options + std::count_if(begin, command.words.end(), is_file_of_settings);
}

}  // namespace

Value value_of_shell_script(std::string_view text, const std::string& where) {
  const std::vector<Command> commands = Splitter(text).split();
  const auto most = std::max_element(commands.begin(), commands.end(),
                                     [](const Command& a, const Command& b) { return weight_of(a) < weight_of(b); });
  if (most == commands.end() || weight_of(*most) == 0)
    throw Error(Errc::bad_file, "no command in it has options that begin with --, or a trainer's file", where);
  const std::size_t found = begin_of_trainer(most->words), begin = found < most->words.size() ? found : 0;
  Value options = Value::Map(), environment = Value::Map();
  add_options(most->words, begin, options);
  options.set("launcher", launcher_of(most->words, begin));
  for (const auto& [name, value] : most->environment) environment.set(name, value);
  options.set("env", environment);
  return options;
}

}  // namespace tidemark::io
