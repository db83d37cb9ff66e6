// The pages about measured trainings are made from the fields; TIDEMARK_ACCEPT=1 in the environment writes them anew.
#include "io/measurement_schema.h"

#include <gtest/gtest.h>

#include "io/value_json.h"
#include "support/generated_page.h"

namespace tidemark::io {
namespace {

TEST(MeasurementSchema, IsTheStoredOne) { expect_current_page("measurements.schema.json", measurement_schema()); }
TEST(MeasurementPage, IsTheStoredOne) { expect_current_page("measurements.md", measurement_page()); }

TEST(MeasurementSchema, LetsARowSayNull) {
  const Value schema = value_from_json(measurement_schema(), "schema");
  const Value* family = schema.find("$defs")->find("row")->find("properties")->find("family");
  EXPECT_EQ((*family->find("anyOf")->as_list())[1], Value(Value::Map{{"type", "null"}}));
}

}  // namespace
}  // namespace tidemark::io
