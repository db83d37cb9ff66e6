#include "program/family_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark {
namespace {

using testing::ElementsAre;

std::string text_of(const std::string& name, const std::string& holds) {
  return "tidemark-program 1\nmodel_type " + name + "\n" + holds + "\nmodules Model\n  holds images == 0\n";
}

std::vector<int> lines(const std::string& file, bool has_images) {
  std::vector<int> found;
  for (const FamilyText& one : family_texts(file, has_images)) found.push_back(one.line);
  return found;
}

TEST(FamilyTexts, AreThoseOfImagesOrThoseOfTextAlone) {
  const std::string usual = text_of("a", ""), alone = text_of("b", "holds images == 0\n");
  EXPECT_THAT(lines(usual + "\n" + usual, true), ElementsAre(1, 7));
  EXPECT_THAT(lines(usual + "\n" + usual, false), ElementsAre(1, 7));
  EXPECT_THAT(lines(usual + "\n" + usual + "\n" + alone, true), ElementsAre(1, 7));
  EXPECT_THAT(lines(usual + "\n" + usual + "\n" + alone, false), ElementsAre(13));
  EXPECT_TRUE(family_texts(usual + "\n" + alone, false)[0].text.starts_with("tidemark-program 1\nmodel_type b\n"));
}

}  // namespace
}  // namespace tidemark
