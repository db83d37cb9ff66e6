// The pages about specs are made from the fields; TIDEMARK_ACCEPT=1 in the environment writes them anew.
#include "io/spec_schema.h"

#include <gtest/gtest.h>

#include "io/value_json.h"
#include "support/generated_page.h"

namespace tidemark::io {
namespace {

TEST(SpecSchema, IsTheStoredOne) { expect_current_page("spec.schema.json", spec_schema()); }
TEST(SpecPage, IsTheStoredOne) { expect_current_page("spec.md", spec_page()); }

TEST(SpecSchema, KnowsNestedFields) {
  const Value schema = value_from_json(spec_schema(), "schema");
  const Value* lora = schema.find("properties")->find("lora");
  const Value& map = (*lora->find("anyOf")->as_list())[0];
  EXPECT_EQ(*map.find("properties")->find("r")->find("maximum"), Value(65536));
  EXPECT_EQ(*map.find("additionalProperties"), Value(false));
}

}  // namespace
}  // namespace tidemark::io
