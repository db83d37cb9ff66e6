#include "validate/measurement.h"

#include <gtest/gtest.h>

#include "support/measurements.h"
#include "support/throws.h"

namespace tidemark {
namespace {

std::string refusal(const std::string& key, Value value) {
  Value row = measurement_value();
  row.set(key, std::move(value));
  const auto error = error_of([&] { read_measurement(row, "r.jsonl: line 7"); });
  return error ? error->what() : "no error";
}

TEST(Measurement, IsReadAndWritten) {
  Value value = measurement_value();
  value.set("estimates", Value::Map{{"somebody", 900}});
  value.set("out_of_memory", false);
  const Measurement row = read_measurement(value, "r.jsonl: line 7");
  EXPECT_EQ(row.metric, Metric::reserved);
  EXPECT_EQ(row.estimates.at("somebody"), 900);
  EXPECT_EQ(row.run->script, "train.py");
  const Measurement again = read_measurement(write_fields(row), "again");
  EXPECT_EQ(write_fields(again), write_fields(row));
}

TEST(Measurement, TakesNullForWhatIsNotKnown) { EXPECT_EQ(refusal("family", Value()), "no error"); }

TEST(Measurement, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(refusal("mesured_bytes", 1),
            "r.jsonl: line 7: \"mesured_bytes\" is not a known key (did you mean measured_bytes?)");
  EXPECT_EQ(refusal("metric", "reservd"),
            "r.jsonl: line 7: metric: \"reservd\" is not one of allocated, active, reserved, device, device_over_start "
            "(did you mean reserved?)");
  EXPECT_EQ(refusal("measured_bytes", Value()),
            "r.jsonl: line 7: \"measured_bytes\" is missing (only a run that is \"out_of_memory\" may have none)");
  EXPECT_EQ(refusal("gpu", Value()), "r.jsonl: line 7: \"gpu\" is missing");
  EXPECT_EQ(refusal("rank", 1), "r.jsonl: line 7: rank 1 of 1 GPUs");
  EXPECT_EQ(refusal("predict_reason", Value()),
            "r.jsonl: line 7: \"predict\" is missing (give it, or say in \"predict_reason\" why it cannot be given)");
  EXPECT_EQ(refusal("run_reason", "no script"), "r.jsonl: line 7: \"run\" and \"run_reason\" cannot both be said");
  EXPECT_EQ(refusal("left_out", "no batch size"), "r.jsonl: line 7: \"left_out\" and \"run\" cannot both be said");
  EXPECT_EQ(refusal("predict", "x"), "r.jsonl: line 7: predict: expected a map, found \"x\"");
  EXPECT_EQ(refusal("estimates", Value::Map{{"x", -1}}),
            "r.jsonl: line 7: estimates.x: expected a number between 0 and 1000000000000000, found -1");
}

TEST(Measurement, ThatIsLeftOutNeedsNoMore) {
  const Value row = Value::Map{{"id", "a"}, {"source", "b"}, {"left_out", "the batch size is not stated"}};
  EXPECT_EQ(read_measurement(row, "r").left_out, "the batch size is not stated");
}

TEST(GroupFields, AreAllKnown) {
  const Measurement row = read_measurement(measurement_value(), "r");
  for (const std::string& field : group_fields()) check_group_field(field, "--by");
  EXPECT_EQ(group_value(row, "c", "corpus"), "c");
  EXPECT_EQ(group_value(row, "c", "metric"), "reserved");
  EXPECT_EQ(group_value(row, "c", "n_gpus"), "1");
  const auto error = error_of([] { check_group_field("familly", "--by"); });
  EXPECT_EQ(error->hint(), "did you mean family?");
}

}  // namespace
}  // namespace tidemark
