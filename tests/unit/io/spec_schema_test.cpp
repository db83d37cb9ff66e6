// The pages about specs are made from the fields; TIDEMARK_ACCEPT=1 in the environment writes them anew.
#include "io/spec_schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "io/value_json.h"

namespace tidemark::io {
namespace {

void expect_current(const char* name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(TIDEMARK_SOURCE_DIR) / "docs" / "reference" / name;
  if (std::getenv("TIDEMARK_ACCEPT")) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  const std::string stored((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(stored, text) << path << " is old: run this test with TIDEMARK_ACCEPT=1";
}

TEST(SpecSchema, IsTheStoredOne) { expect_current("spec.schema.json", spec_schema()); }
TEST(SpecPage, IsTheStoredOne) { expect_current("spec.md", spec_page()); }

TEST(SpecSchema, KnowsNestedFields) {
  const Value schema = value_from_json(spec_schema(), "schema");
  const Value* lora = schema.find("properties")->find("lora");
  const Value& map = (*lora->find("anyOf")->as_list())[0];
  EXPECT_EQ(*map.find("properties")->find("r")->find("maximum"), Value(65536));
  EXPECT_EQ(*map.find("additionalProperties"), Value(false));
}

}  // namespace
}  // namespace tidemark::io
