// Command lines as people keep them: the options of one command in a shell script, without a shell.
#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "io/training_config.h"

namespace tidemark::io {
namespace {

using Words = std::vector<std::string>;

/// Commands as words: quotes and line ends behind a backslash as sh has them; names behind $ stay as they are.
class Splitter {
 public:
  std::vector<Words> split(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char letter = text[i];
      if (quote_ != 0) {
        if (letter == quote_)
          quote_ = 0;
        else
          add(letter);
      } else if (letter == '\\' && i + 1 < text.size()) {
        i += text.substr(i + 1).starts_with("\r\n") ? 2 : 1;
        if (text[i] != '\n')
          add(text[i]);
        else
          end_word();
      } else if (letter == '\'' || letter == '"') {
        quote_ = letter;
        in_word_ = true;
      } else if (letter == '#' && !in_word_) {
        i = std::min(text.find('\n', i), text.size()) - 1;
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
  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }
  void end_command() {
    end_word();
    if (!words_.empty()) commands_.push_back(std::move(words_));
    words_.clear();
  }

  std::vector<Words> commands_;
  Words words_;
  std::string word_;
  char quote_ = 0;
  bool in_word_ = false;
};

bool is_option(const std::string& word) { return word.size() > 2 && word.starts_with("--"); }

std::ptrdiff_t count_options(const Words& words) { return std::count_if(words.begin(), words.end(), is_option); }

/// How many processes a launcher starts, by the variable that swift and LLaMA-Factory read.
void take_variable(const std::string& word, Value& options) {
  for (const auto& [variable, key] : {std::pair{"NPROC_PER_NODE=", "nproc_per_node"}, std::pair{"NNODES=", "nnodes"}})
    if (word.starts_with(variable)) options.set(key, word.substr(std::string_view(variable).size()));
}

Value value_of_words(const Words& words, std::size_t begin, std::size_t end) {
  if (begin == end) return true;
  if (end - begin == 1) return words[begin];
  return Value::List(words.begin() + static_cast<std::ptrdiff_t>(begin),
                     words.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace

Value value_of_shell_script(std::string_view text, const std::string& where) {
  const std::vector<Words> commands = Splitter().split(text);
  const auto most = std::max_element(commands.begin(), commands.end(), [](const Words& a, const Words& b) {
    return count_options(a) < count_options(b);
  });
  if (most == commands.end() || count_options(*most) == 0)
    throw Error(Errc::bad_file, "no command in it has options that begin with --", where);
  Value options = Value::Map();
  for (const Words& words : commands)
    for (const std::string& word : words) take_variable(word, options);
  for (std::size_t i = 0; i < most->size(); ++i) {
    if (!is_option((*most)[i])) continue;
    const std::string& word = (*most)[i];
    std::size_t end = i + 1;
    while (end < most->size() && !is_option((*most)[end])) ++end;
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      options.set(word.substr(2, equals - 2), word.substr(equals + 1));
    else
      options.set(word.substr(2), value_of_words(*most, i + 1, end));
  }
  return options;
}

}  // namespace tidemark::io
