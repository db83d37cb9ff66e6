#include "parallel/pipeline_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace tidemark {
namespace {

using Kind = PipelineAction::Kind;

std::string text_of(const PipelineShape& shape, std::int64_t rank) {
  std::string text;
  for (const PipelineAction& action : pipeline_actions(shape, rank)) {
    if (!text.empty()) text += ' ';
    if (shape.stages_per_rank > 1) text += std::to_string(action.stage);
    text += (action.kind == Kind::forward ? 'F' : 'B') + std::to_string(action.microbatch);
  }
  return text;
}

/// F, B, for all of a stage's micro-batches U(nshard), R(eshard), G(radients are reduced), and of messages those of
/// I(nputs) and J, of gradients, and S(ent).
std::string stages_of(const std::vector<PipelineAction>& actions) {
  std::string text;
  for (const PipelineAction& action : actions) {
    if (!text.empty()) text += ' ';
    text += "FBURGIJS"[static_cast<int>(action.kind)] + std::to_string(action.stage);
  }
  return text;
}

std::string gathering_of(const PipelineShape& shape, std::int64_t rank) {
  return stages_of(with_gathering(pipeline_actions(shape, rank), shape));
}

/// Of one stage: micro-batches in their place.
std::string messages_of(const PipelineShape& shape, std::int64_t rank) {
  std::vector<PipelineAction> actions = with_messages(shape, rank);
  for (PipelineAction& action : actions) action.stage = action.microbatch;
  return stages_of(actions);
}

/// The most micro-batches that have gone forward in one stage and not yet back.
std::int64_t most_in_flight(const PipelineShape& shape, std::int64_t rank) {
  std::int64_t now = 0, most = 0;
  for (const PipelineAction& action : pipeline_actions(shape, rank))
    most = std::max(most, now += action.kind == Kind::forward ? 1 : -1);
  return most;
}

TEST(PipelineSchedule, GPipeFillsAndDrains) {
  EXPECT_EQ(text_of({PipelineSchedule::gpipe, 2, 1, 3}, 0), "F0 F1 F2 B0 B1 B2");
}

TEST(PipelineSchedule, OneForwardOneBackwardGoesBackAsSoonAsItCan) {
  const PipelineShape shape{PipelineSchedule::one_f_one_b, 3, 1, 4};
  EXPECT_EQ(text_of(shape, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(text_of(shape, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text_of(shape, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(PipelineSchedule, LoopedBfsFinishesAStageFirst) {
  EXPECT_EQ(text_of({PipelineSchedule::looped_bfs, 2, 2, 2}, 1), "1F0 1F1 3F0 3F1 3B1 3B0 1B1 1B0");
}

TEST(PipelineSchedule, InterleavedFinishesARoundFirst) {
  const PipelineShape shape{PipelineSchedule::interleaved_1f1b, 2, 2, 4};
  EXPECT_EQ(text_of(shape, 1), "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
}

TEST(PipelineSchedule, SchedulesOfOneStageReduceBehindTheirLastBackward) {
  EXPECT_EQ(gathering_of({PipelineSchedule::gpipe, 2, 1, 2}, 1), "F1 F1 B1 B1 G1");
}

// What torch 2.11.0 prints of _add_reduce_grad(_add_unshard_reshard(…)).
TEST(PipelineSchedule, OfSeveralStagesThreeAreGatheredAtOnce) {
  EXPECT_EQ(gathering_of({PipelineSchedule::looped_bfs, 1, 2, 1}, 0), "U0 U1 F0 F1 B1 G1 R1 B0 G0 R0");
  EXPECT_EQ(gathering_of({PipelineSchedule::looped_bfs, 1, 4, 1}, 0),
            "U0 U1 U2 F0 R0 U3 F1 F2 F3 B3 G3 R3 U0 B2 G2 R2 B1 G1 R1 B0 G0 R0");
}

// What torch 2.15.0 prints of _add_send_recv(_add_reduce_grad(_add_unshard_reshard(…))), without what is sent.
TEST(PipelineSchedule, OfSeveralStagesMessagesAreReceivedAsTheyAreSent) {
  const PipelineShape bfs{PipelineSchedule::looped_bfs, 2, 2, 2};
  const PipelineShape interleaved{PipelineSchedule::interleaved_1f1b, 2, 2, 4};
  EXPECT_EQ(stages_of(with_messages(bfs, 0)), "U0 U2 F0 I2 F0 I2 F2 F2 J2 B2 J2 B2 G2 R2 J0 B0 J0 B0 G0 R0");
  EXPECT_EQ(stages_of(with_messages(bfs, 1)), "U1 U3 I1 F1 I1 F1 I3 F3 I3 F3 B3 J1 B3 J1 G3 R3 B1 B1 G1 R1");
  EXPECT_EQ(stages_of(with_messages(interleaved, 0)),
            "U0 U2 F0 I2 F0 I2 F2 F2 J2 F0 B2 J2 F0 I2 B2 J0 F2 I2 B0 J0 F2 B0 J2 B2 J2 B2 G2 R2 J0 B0 J0 B0 G0 R0");
  EXPECT_EQ(stages_of(with_messages(interleaved, 1)),
            "U1 U3 I1 F1 I1 F1 I3 F3 I3 B3 I1 F3 J1 B3 I1 F1 J1 B1 I3 F1 B1 I3 F3 B3 J1 F3 B3 J1 G3 R3 B1 B1 G1 R1");
}

TEST(PipelineSchedule, OfOneStageWhatWasSentIsWaitedForBetweenPasses) {
  EXPECT_EQ(messages_of({PipelineSchedule::gpipe, 2, 1, 2}, 0), "I0 F0 I1 F1 S0 S1 J0 B0 J1 B1 G0");
  EXPECT_EQ(messages_of({PipelineSchedule::one_f_one_b, 2, 1, 3}, 0),
            "I0 F0 I1 F1 S0 J0 S1 B0 I2 F2 J1 S2 B1 J2 B2 G0");
}

TEST(PipelineSchedule, OneForwardOneBackwardHoldsAsManyAsStagesFollow) {
  for (const std::int64_t microbatches : {4, 5, 16, 64})
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(most_in_flight({PipelineSchedule::one_f_one_b, 4, 1, microbatches}, rank), 4 - rank);
      EXPECT_EQ(most_in_flight({PipelineSchedule::gpipe, 4, 1, microbatches}, rank), microbatches);
    }
}

TEST(PipelineSchedule, EveryStageSeesEveryMicrobatchOnceEachWay) {
  using enum PipelineSchedule;
  for (const PipelineSchedule schedule : {gpipe, one_f_one_b, interleaved_1f1b, looped_bfs})
    for (const std::int64_t ranks : {1, 2, 3, 4})
      for (const std::int64_t local : {1, 2, 3}) {
        if (is_single(schedule) && local > 1) continue;
        const PipelineShape shape{schedule, ranks, local, 12};
        std::map<std::pair<std::int64_t, std::int64_t>, std::string> seen;
        for (std::int64_t rank = 0; rank < ranks; ++rank)
          for (const PipelineAction& action : pipeline_actions(shape, rank)) {
            EXPECT_EQ(action.stage % ranks, rank);
            seen[{action.stage, action.microbatch}] += action.kind == Kind::forward ? 'F' : 'B';
          }
        EXPECT_EQ(static_cast<std::int64_t>(seen.size()), ranks * local * 12);
        for (const auto& [where, order] : seen) EXPECT_EQ(order, "FB");
      }
}

}  // namespace
}  // namespace tidemark
