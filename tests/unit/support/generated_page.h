// Pages of docs/reference that are made from the code; TIDEMARK_ACCEPT=1 in the environment writes them anew.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tidemark {

inline void expect_current_page(const char* name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(TIDEMARK_SOURCE_DIR) / "docs" / "reference" / name;
  if (std::getenv("TIDEMARK_ACCEPT")) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  const std::string stored((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(stored, text) << path << " is old: run this test with TIDEMARK_ACCEPT=1";
}

}  // namespace tidemark
