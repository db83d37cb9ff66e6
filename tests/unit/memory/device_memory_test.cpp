#include "memory/device_memory.h"

#include <gtest/gtest.h>

#include "support/device_memory.h"
#include "support/throws.h"

namespace tidemark {
namespace {

class CommunicatorBytesOf : public testing::Test {
 protected:
  const NcclMemory nccl_ = sample_device_memory().nccl;
};

TEST_F(CommunicatorBytesOf, IsMadeForTheLargerNumberOfChannels) {
  const CommunicatorBytes bytes = communicator_bytes(nccl_, "nvlink", 2, false);
  EXPECT_EQ(bytes.made, (BytesRange{(2 + 3 * 1) * 2, (2 + 3 * 4) * 2, (2 + 3 * 4) * 2}));
}

TEST_F(CommunicatorBytesOf, ConnectsARingInEachChannel) {
  EXPECT_EQ(communicator_bytes(nccl_, "nvlink", 2, false).collective, (BytesRange{12, 24, 36}));
  EXPECT_EQ(communicator_bytes(nccl_, "pcie", 2, false).collective, (BytesRange{0, 12, 24}));
}

TEST_F(CommunicatorBytesOf, MayHaveTreesAndMulticastFromThreeRanksOn) {
  EXPECT_EQ(communicator_bytes(nccl_, "nvlink", 3, false).collective, (BytesRange{12, 24, 36 + 36 + 300}));
  EXPECT_EQ(communicator_bytes(nccl_, "nvlink", 64, false).collective.high, 36 + 36 + 800);
  EXPECT_EQ(communicator_bytes(nccl_, "pcie", 3, false).collective.high, 24 + 24);
}

TEST_F(CommunicatorBytesOf, SharesBuffersOfTheNetworkAmongPeers) {
  const Communicator in_a_node{"p2p", {0, 1, 2, 3}, false, false, 3}, across{"p2p", {0, 1, 2, 3}, true, false, 3};
  EXPECT_EQ(total_bytes(nccl_, "nvlink", in_a_node).typical, 28 + 3 * 4 * 12);
  EXPECT_EQ(total_bytes(nccl_, "nvlink", across).typical, (2 + 3 * 2) * 2 + 2 * 2 * 7);
  EXPECT_EQ(total_bytes(nccl_, "nvlink", across).low, (2 + 3 * 1) * 2);
}

TEST_F(CommunicatorBytesOf, ARankAloneConnectsNothing) {
  EXPECT_EQ(total_bytes(nccl_, "nvlink", {"one", {5}, false, true, 0}), (BytesRange{1, 3, 9}));
}

TEST_F(CommunicatorBytesOf, AsksForALinkThatIsKnown) {
  const auto error = error_of([&] { communicator_bytes(nccl_, "token ring", 2, false); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), "link");
  EXPECT_TRUE(knows_link(nccl_, "pcie") && !knows_link(nccl_, ""));
}

TEST_F(CommunicatorBytesOf, IsNothingWithoutTheTable) {
  EXPECT_EQ(total_bytes({}, "", {"one", {0, 1}, false, true, 1}), BytesRange{});
}

}  // namespace
}  // namespace tidemark
