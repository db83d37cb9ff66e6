// Blocks of 30 MiB on a side stream, which the program's stream uses: whether the second one needs a segment of its own
// depends on what the host has waited for.
#include "estimate/interval.h"

#include <gtest/gtest.h>

#include "support/block_sizes.h"

namespace tidemark {
namespace {

constexpr StreamId kSide = 1, kOther = 2;

class IntervalTest : public testing::Test {
 protected:
  static RunConfig config() {
    RunConfig config;
    config.card.total_bytes = 1024 * kMib;
    config.allocator.device.total_bytes = config.card.total_bytes;
    return config;
  }

  Tensor block(StreamId stream) {
    const Setting<StreamId> there(run_.stream, stream);
    return empty(run_, Dims{30 * kMib}, Dtype::uint8);
  }
  /// One that the program's stream has used, and that is free again for the program.
  void use_and_free(Tensor used) {
    run_.stream_calls.work(0);
    run_.record_stream(*used.impl().storage, 0);
  }
  std::int64_t reserved_at_most_mib() {
    const std::optional<Interval> interval = interval_of(run_);
    if (!interval) return run_.timeline().reserved_peak_bytes() / kMib;
    EXPECT_EQ(interval->reserved_low_bytes, run_.timeline().reserved_peak_bytes());
    return interval->reserved_high_bytes / kMib;
  }

  tidemark::Run run_{config()};
};

TEST_F(IntervalTest, WithoutAWaitTheBlockIsNotThereAgain) {
  use_and_free(block(kSide));
  const Tensor next = block(kSide);
  EXPECT_EQ(run_.timeline().reserved_peak_bytes() / kMib, 30);
  EXPECT_EQ(reserved_at_most_mib(), 60);
  EXPECT_NE(interval_of(run_)->why.find("when the program waits"), std::string::npos);
}

TEST_F(IntervalTest, WhatTheHostWaitsForIsOver) {
  use_and_free(block(kSide));
  run_.stream_calls.host_waits(0);
  const Tensor next = block(kSide);
  EXPECT_EQ(reserved_at_most_mib(), 30);
}

TEST_F(IntervalTest, WhatComesBeforeWhatTheHostWaitsForIsOver) {
  use_and_free(block(kSide));
  run_.stream_calls.wait_stream(kOther, 0);
  run_.stream_calls.host_waits(kOther);
  const Tensor next = block(kSide);
  EXPECT_EQ(reserved_at_most_mib(), 30);
}

TEST_F(IntervalTest, AnEventIsOfWhenItWasRecorded) {
  const EventNumber before = run_.stream_calls.record(0);
  use_and_free(block(kSide));
  run_.stream_calls.stream_waits(kOther, before);
  run_.stream_calls.host_waits(kOther);
  const Tensor next = block(kSide);
  EXPECT_EQ(reserved_at_most_mib(), 60);
}

TEST_F(IntervalTest, AQueueIsWaitedForFromItsFront) {
  use_and_free(block(kSide));
  run_.stream_calls.queue_event(0, 0);
  run_.stream_calls.wait_for_oldest(0, 2);  // there is but one
  const Tensor second = block(kSide);
  EXPECT_EQ(reserved_at_most_mib(), 60);
  run_.stream_calls.work(0);
  run_.stream_calls.queue_event(0, 0);
  run_.stream_calls.wait_for_oldest(0, 2);
  const Tensor third = block(kSide);
  EXPECT_EQ(reserved_at_most_mib(), 60);
}

TEST_F(IntervalTest, WhatIsDoneIsDroppedFromAQueue) {
  run_.stream_calls.work(0);
  run_.stream_calls.queue_event(0, 0);
  run_.stream_calls.host_waits(0);
  use_and_free(block(kSide));
  run_.stream_calls.queue_event(0, 0);
  run_.stream_calls.drop_done(0);
  run_.stream_calls.wait_for_oldest(0, 2);
  const Tensor next = block(kSide);
  EXPECT_EQ(reserved_at_most_mib(), 60);
}

TEST_F(IntervalTest, SinceTorch212ItIsOfOtherStreamsAlone) {
  use_and_free(block(kSide));
  const Tensor next = block(kSide);
  EXPECT_NE(interval_of(run_)->why.find("by address"), std::string::npos);
  RunConfig later = config();
  later.allocator.rules = allocator_rules("2.15.0");
  tidemark::Run run(later);
  const Setting<StreamId> there(run.stream, kSide);
  run.stream_calls.work(0);
  run.record_stream(*empty(run, Dims{30 * kMib}, Dtype::uint8).impl().storage, 0);
  const Tensor after = empty(run, Dims{30 * kMib}, Dtype::uint8);
  EXPECT_EQ(interval_of(run)->why,
            "memory that other streams used given back at once or when the program waits for them");
}

TEST_F(IntervalTest, WhatALibraryTookIsTakenInAReplayToo) {
  const auto block = [&](std::int64_t mib) { return empty(run_, Dims{mib * kMib}, Dtype::uint8); };
  block(400).reset();
  run_.take_from_device(300 * kMib);
  const Tensor next = block(500);  // for which the cached one has to go
  EXPECT_EQ(run_.timeline().reserved_peak_bytes() / kMib, 500);
  EXPECT_FALSE(interval_of(run_).has_value());
}

TEST_F(IntervalTest, OneStreamKnowsNoOrder) {
  block(0).reset();
  run_.stream_calls.queue_event(0, 0);
  const Tensor next = block(0);
  EXPECT_FALSE(interval_of(run_).has_value());
}

}  // namespace
}  // namespace tidemark
