#include "clock.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace tidemark {
namespace {

const void* const kDefault = nullptr;
const void* const kSide = reinterpret_cast<const void*>(0x10000);
const void* const kOther = reinterpret_cast<const void*>(0x10040);
const void* const kEvent = reinterpret_cast<const void*>(0x20000);
const void* const kLater = reinterpret_cast<const void*>(0x20040);

TEST(Clock, WorkBeginsWhenTheStreamsEarlierWorkIsDone) {
  Clock clock(EventOrder::clock);
  clock.queue(kSide, 10'000);
  clock.queue(kSide, 20'000);
  clock.record(kEvent, kSide);
  EXPECT_FALSE(clock.event_is_done(kEvent));
  clock.host_works(29'999);
  EXPECT_FALSE(clock.event_is_done(kEvent));
  clock.host_works(1);
  EXPECT_TRUE(clock.event_is_done(kEvent));
}

TEST(Clock, WorkDoesNotBeginBeforeTheHostQueuesIt) {
  Clock clock(EventOrder::clock);
  clock.host_works(50'000);
  clock.queue(kSide, 10'000);
  clock.record(kEvent, kSide);
  clock.synchronize_event(kEvent);
  EXPECT_EQ(clock.host_time(), 60'000);
}

TEST(Clock, StreamsRunSideBySideUntilOneWaits) {
  Clock clock(EventOrder::clock);
  clock.queue(kSide, 100'000);
  clock.record(kEvent, kSide);
  clock.queue(kOther, 10'000);
  clock.record(kLater, kOther);
  clock.synchronize_event(kLater);
  EXPECT_EQ(clock.host_time(), 10'000);
  clock.wait(kOther, kEvent);
  clock.queue(kOther, 10'000);
  clock.synchronize_stream(kOther);
  EXPECT_EQ(clock.host_time(), 110'000);
}

TEST(Clock, ARecordedEventDoesNotMoveWithItsStream) {
  Clock clock(EventOrder::clock);
  clock.queue(kSide, 10'000);
  clock.record(kEvent, kSide);
  clock.queue(kSide, 90'000);
  clock.synchronize_event(kEvent);
  EXPECT_EQ(clock.host_time(), 10'000);
}

TEST(Clock, AnEventThatWasNeverRecordedIsDone) {
  for (const EventOrder order : {EventOrder::instant, EventOrder::clock, EventOrder::late}) {
    Clock clock(order);
    EXPECT_TRUE(clock.ask_event(kEvent));
    EXPECT_TRUE(clock.ask_stream(kSide));
  }
}

TEST(Clock, AnotherAtTheSamePlaceBeginsAnew) {
  std::optional<Clock> clock(std::in_place, EventOrder::clock);
  clock->ask_stream(kSide);
  EXPECT_GT(clock->host_time(), 0);
  clock.emplace(EventOrder::clock);
  EXPECT_EQ(clock->host_time(), 0);
}

TEST(Clock, ProlongedWorkEndsLater) {
  Clock clock(EventOrder::clock);
  clock.queue(kSide, 10'000);
  clock.prolong(kSide, 5'000);
  clock.synchronize_device();
  EXPECT_EQ(clock.host_time(), 15'000);
}

TEST(Clock, TheLegacyStreamAndBlockingStreamsWaitForEachOther) {
  Clock clock(EventOrder::clock);
  clock.add_blocking_stream(kSide);
  clock.queue(kSide, 10'000);
  clock.queue(kDefault, 10'000);  // after kSide's
  clock.queue(kOther, 1'000);     // made with cudaStreamNonBlocking: at once
  clock.queue(kSide, 10'000);     // after the default stream's
  clock.synchronize_stream(kOther);
  EXPECT_EQ(clock.host_time(), 1'000);
  clock.synchronize_stream(kDefault);
  EXPECT_EQ(clock.host_time(), 30'000);  // a wait for the legacy stream is one for what it would wait for
}

TEST(Clock, InstantAnswersYesToEverything) {
  Clock clock(EventOrder::instant);
  clock.queue(kSide, 1'000'000'000);
  clock.record(kEvent, kSide);
  EXPECT_TRUE(clock.ask_event(kEvent));
  EXPECT_TRUE(clock.ask_stream(kSide));
  EXPECT_EQ(clock.answers().asked, 2);
  EXPECT_EQ(clock.answers().not_ready, 0);
}

TEST(Clock, LateKnowsWhatAWaitIncludes) {
  Clock clock(EventOrder::late);
  clock.queue(kSide, 1);
  clock.record(kEvent, kSide);
  clock.host_works(1'000'000'000);  // time alone does nothing
  EXPECT_FALSE(clock.event_is_done(kEvent));
  clock.queue(kOther, 1);
  clock.synchronize_stream(kOther);  // another stream, that does not wait for kSide
  EXPECT_FALSE(clock.event_is_done(kEvent));
  clock.wait(kOther, kEvent);
  clock.queue(kOther, 1);
  clock.synchronize_stream(kOther);  // … and now does
  EXPECT_TRUE(clock.event_is_done(kEvent));
}

TEST(Clock, LateEventsOfAStreamWithoutWorkAreDone) {
  Clock clock(EventOrder::late);
  clock.record(kEvent, kSide);
  EXPECT_TRUE(clock.event_is_done(kEvent));
  clock.queue(kSide, 1);
  clock.synchronize_device();
  clock.record(kEvent, kSide);
  EXPECT_TRUE(clock.event_is_done(kEvent));
}

TEST(Clock, PollingEnds) {
  for (const EventOrder order : {EventOrder::clock, EventOrder::late}) {
    Clock clock(order);
    clock.queue(kSide, 3'600'000'000'000);  // an hour
    clock.record(kEvent, kSide);
    int questions = 1;
    while (!clock.ask_event(kEvent)) ASSERT_LT(++questions, 2'000);
    EXPECT_EQ(clock.answers().asked, questions);
    EXPECT_EQ(clock.answers().not_ready, questions - 1);
  }
}

TEST(Clock, AskingNowAndThenIsNoWait) {
  Clock clock(EventOrder::late);
  clock.queue(kSide, 1);
  clock.record(kEvent, kSide);
  for (int i = 0; i < 5'000; ++i) {
    ASSERT_FALSE(clock.ask_event(kEvent)) << i;
    clock.queue(kOther, 1);
  }
}

TEST(Clock, AThreadThatOnlyAsksDoesNotMoveTheOthers) {
  Clock clock(EventOrder::clock);
  clock.queue(kSide, 3'600'000'000'000);
  clock.record(kEvent, kSide);
  std::thread([&] {
    while (!clock.ask_event(kEvent)) {
    }
  }).join();
  EXPECT_EQ(clock.host_time(), 0);
  EXPECT_FALSE(clock.event_is_done(kEvent));
}

TEST(Clock, CountsTheWorkOfAStream) {
  Clock clock(EventOrder::clock);
  EXPECT_EQ(clock.work_queued(kSide), 0U);
  clock.queue(kSide, 1);
  clock.queue(kSide, 1);
  clock.queue(kOther, 1);
  clock.wait(kSide, kEvent);
  EXPECT_EQ(clock.work_queued(kSide), 2U);
}

}  // namespace
}  // namespace tidemark
