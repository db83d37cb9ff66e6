#include "cuda_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace tidemark::cli {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// `cudaMalloc`, `cuMemMap`, `CUresult`, `CU_STREAM_DEFAULT`.
bool is_cuda_name(const std::string& word) {
  const auto at = [&](std::size_t i) { return i < word.size() ? static_cast<unsigned char>(word[i]) : 0; };
  if (word.starts_with("cuda")) return std::isupper(at(4));
  if (word.starts_with("cu")) return std::isupper(at(2));
  return word.starts_with("CU") && (std::islower(at(2)) || at(2) == '_');
}

/// Without comments and the text of literals.
std::string code_of(const std::string& text) {
  std::string code;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) i += text[i] == '\\';
      code += "\"\"";
    } else {
      code += text[i];
    }
  }
  return code;
}

/// A word where it stands in code that has no comments.
struct Mention {
  std::string word;
  std::string before;    // the word or the sign in front of it
  std::string after;     // the sign behind it; "a" for a word
  bool touches = false;  // nothing between it and `after`
};

std::vector<Mention> mentions_in(const std::string& code) {
  std::vector<Mention> found;
  std::string before;
  for (std::size_t i = 0; i < code.size();) {
    if (std::isspace(static_cast<unsigned char>(code[i]))) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (is_word(code[i]))
      while (end < code.size() && is_word(code[end])) ++end;
    else if (code.compare(i, 2, "::") == 0 || code.compare(i, 2, "&&") == 0)
      end = i + 2;
    const std::string word = code.substr(i, end - i);
    if (is_cuda_name(word)) {
      std::size_t next = end;
      while (next < code.size() && std::isspace(static_cast<unsigned char>(code[next]))) ++next;
      const bool pair = code.compare(next, 2, "::") == 0 || code.compare(next, 2, "&&") == 0;
      const std::string after = next == code.size() ? "" : is_word(code[next]) ? "a" : code.substr(next, pair ? 2 : 1);
      found.push_back({word, before, after, next == end});
    }
    before = word;
    i = end;
  }
  return found;
}

bool looks_like_a_type(const Mention& mention) {
  const bool pointer = mention.touches && (mention.after == "*" || mention.after == "&");
  const bool declares = mention.after == "a" || pointer;
  const bool keyword = mention.before == "struct" || mention.before == "enum" || mention.before == "const";
  return mention.word.ends_with("_t") || declares || keyword || (mention.before == "<" && mention.after == ">");
}

constexpr const char* kUnknown =
    R"(// Written by Tidemark: names of CUDA that torch's headers mention and that Tidemark does not use.
#pragma once
#include <type_traits>
struct TidemarkUnknown {
  template <class... Any> constexpr TidemarkUnknown(Any&&...) {}
  template <class Any> constexpr operator Any() const { return Any{}; }
};
template <class One, class Other> requires std::is_base_of_v<TidemarkUnknown, One>
constexpr bool operator==(const One&, const Other&) { return false; }
)";

class Names {
 public:
  explicit Names(const std::string& declared) {
    for (const Mention& mention : mentions_in(code_of(declared))) declared_.insert(mention.word);
  }

  void add(const std::string& header) {
    std::string owner;  // the name before `::`
    for (const Mention& mention : mentions_in(code_of(header))) {
      if (mention.before == "define") declared_.insert(mention.word);
      if (mention.before == "::" && !owner.empty()) members_[owner].insert(mention.word);
      owner = mention.after == "::" ? mention.word : "";
      if (mention.after == "::")
        members_[mention.word];
      else if (looks_like_a_type(mention))
        types_.insert(mention.word);
      else if (mention.after == "(")
        functions_.insert(mention.word);
      else
        numbers_.insert(mention.word);
    }
  }

  std::string text() {
    std::string text = kUnknown;
    int number = 1000;  // all different: they may be cases of one switch
    for (const auto& [name, members] : members_) {
      if (!take(name)) continue;
      text += fmt::format("enum {} : int {{", name);
      for (const std::string& member : members)
        if (take(member)) text += fmt::format(" {} = {},", member, number++);
      text += " };\n";
    }
    for (const std::string& name : types_)
      if (take(name))
        text += fmt::format("struct {} : TidemarkUnknown {{ using TidemarkUnknown::TidemarkUnknown; }};\n", name);
    for (const std::string& name : functions_)
      if (take(name)) text += fmt::format("template <class... Any> int {}(Any...);\n", name);
    for (const std::string& name : numbers_)
      if (take(name)) text += fmt::format("inline constexpr int {} = {};\n", name, number++);
    return text;
  }

 private:
  bool take(const std::string& name) { return declared_.insert(name).second; }

  std::set<std::string> declared_, types_, functions_, numbers_;
  // Of enumerations that are named with a member: `cudaStreamCaptureStatus::cudaStreamCaptureStatusNone`.
  std::map<std::string, std::set<std::string>> members_;
};

}  // namespace

std::string declare_cuda_names(const std::vector<std::string>& headers, const std::string& declared) {
  Names names(declared);
  for (const std::string& header : headers) names.add(header);
  return names.text();
}

}  // namespace tidemark::cli
