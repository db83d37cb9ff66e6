// Mirrors NCCL 2.28.9: which device buffers a communicator makes, and when.
#include "memory/device_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tidemark {
namespace {

/// NCCL_MAX_NVLS_ARITY allows more; nodes with NVSwitch have eight GPUs.
constexpr std::int64_t kMostHeads = 8;

std::int64_t rounded(const NcclMemory& nccl, std::int64_t bytes) {
  return (bytes + nccl.granularity_bytes - 1) / nccl.granularity_bytes * nccl.granularity_bytes;
}

BytesRange times(const BytesRange& count, std::int64_t bytes) {
  return {checked_multiply(count.low, bytes), checked_multiply(count.typical, bytes),
          checked_multiply(count.high, bytes)};
}

const ChannelCounts& channels_of(const NcclMemory& nccl, const std::string& link, bool across_nodes) {
  for (const ChannelCounts& counts : nccl.channels)
    if (counts.link == link && counts.across_nodes == across_nodes) return counts;
  throw Error(Errc::unsupported, fmt::format("what a communicator takes over links of kind \"{}\" is not known", link),
              "link", "nvlink and pcie are known");
}

/// src/init.cc: devCommSetup; src/channel.cc: initChannel
BytesRange made_bytes(const NcclMemory& nccl, const ChannelCounts& counts) {
  const auto all = [&](std::int64_t collective, std::int64_t point_to_point) {
    const std::int64_t channels = std::max(collective, point_to_point);
    return (nccl.made_allocations + nccl.channel_allocations * channels) * nccl.granularity_bytes;
  };
  return {all(counts.collective.low, counts.point_to_point.low),
          all(counts.collective.typical, counts.point_to_point.typical),
          all(counts.collective.high, counts.point_to_point.high)};
}

}  // namespace

bool knows_link(const NcclMemory& nccl, const std::string& link) {
  return std::any_of(nccl.channels.begin(), nccl.channels.end(),
                     [&](const ChannelCounts& counts) { return counts.link == link; });
}

CommunicatorBytes communicator_bytes(const NcclMemory& nccl, const std::string& link, std::int64_t ranks,
                                     bool across_nodes) {
  if (nccl.channels.empty()) return {};
  if (ranks == 1) return {.made = nccl.alone_bytes, .collective = {}, .peer = {}};
  const ChannelCounts& counts = channels_of(nccl, link, across_nodes);
  // src/transport/p2p.cc: p2pSendSetup, p2pRecvSetup, for a peer whose memory can be reached; src/transport/shm.cc has
  // its buffers on the host.  src/transport/net.cc: sendProxyConnect, recvProxyConnect, with GPUDirect RDMA.
  const std::int64_t buffers = nccl.ll_bytes + nccl.ll128_bytes + nccl.simple_bytes;
  const std::int64_t both_ways = rounded(nccl, nccl.control_bytes) + rounded(nccl, nccl.control_bytes + buffers);
  const std::int64_t over_network = rounded(nccl, nccl.ll128_bytes + nccl.simple_bytes) + rounded(nccl, buffers);
  CommunicatorBytes bytes{.made = made_bytes(nccl, counts), .collective = {}, .peer = {}};
  // A ring in each channel: one neighbour to send to, one to receive from.
  bytes.collective = times(counts.collective, both_ways);
  bytes.peer = times(counts.point_to_point, both_ways);
  if (link != "nvlink" || across_nodes) bytes.collective.low = bytes.peer.low = 0;  // buffers on the host
  if (across_nodes) {
    bytes.collective.high = std::max(bytes.collective.high, counts.collective.high * over_network);
    bytes.peer = times(counts.point_to_point, 2 * nccl.shared_network_bytes);
    bytes.peer.low = 0;
  }
  // Trees beside the rings: in a node the neighbours once more, the other way round; between nodes two more children.
  // With multicast in the switch, a buffer for each GPU.
  if (ranks > 2) {
    bytes.collective.high += counts.collective.high * both_ways;
    if (across_nodes) bytes.collective.high += counts.collective.high * over_network;
    if (link == "nvlink") bytes.collective.high += nccl.nvls_channels * nccl.nvls_bytes * std::min(ranks, kMostHeads);
  }
  return bytes;
}

BytesRange total_bytes(const NcclMemory& nccl, const std::string& link, const Communicator& communicator) {
  const CommunicatorBytes bytes =
      communicator_bytes(nccl, link, static_cast<std::int64_t>(communicator.ranks.size()), communicator.across_nodes);
  BytesRange total = bytes.made;
  if (communicator.collective) total += bytes.collective;
  // The buffers of the network are shared by all peers.
  const std::int64_t peers =
      communicator.across_nodes ? std::min<std::int64_t>(communicator.peers, 1) : communicator.peers;
  total += times(bytes.peer, peers);
  return total;
}

}  // namespace tidemark
