#include "program/family_texts.h"

#include <algorithm>

namespace tidemark {
namespace {

bool is_of_text(const FamilyText& one) {
  return one.text.substr(0, one.text.find("\nmodules ")).find("\nholds images == 0\n") != std::string_view::npos;
}

std::vector<FamilyText> all_of(std::string_view file) {
  constexpr std::string_view first = "\ntidemark-program ";
  std::vector<FamilyText> texts;
  for (int line = 1;;) {
    const std::size_t next = file.find(first);
    const std::string_view text = file.substr(0, next == std::string_view::npos ? next : next + 1);
    texts.push_back({text, line});
    if (next == std::string_view::npos) return texts;
    line += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    file.remove_prefix(text.size());
  }
}

}  // namespace

std::vector<FamilyText> family_texts(std::string_view file, bool has_images) {
  std::vector<FamilyText> texts = all_of(file);
  if (std::any_of(texts.begin(), texts.end(), is_of_text))
    std::erase_if(texts, [&](const FamilyText& one) { return is_of_text(one) == has_images; });
  return texts;
}

}  // namespace tidemark
