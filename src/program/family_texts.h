// The programs of one file: a family may be built in several ways, and trained with images or on text alone.
#pragma once
#include <string_view>
#include <vector>

namespace tidemark {

struct FamilyText {
  std::string_view text;
  int line;  // of the file, at which it begins
};

/// All programs of the file in their order.  Where some are of text alone ("holds images == 0"), those or the others.
std::vector<FamilyText> family_texts(std::string_view file, bool has_images);

}  // namespace tidemark
