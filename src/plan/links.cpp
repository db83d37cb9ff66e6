#include "plan/links.h"

#include <algorithm>
#include <cmath>

namespace tidemark::plan {
namespace {

/// Ports of DGX H100 (8 of 400 Gb/s) and DGX A100 (8 of 200 Gb/s), NVIDIA's datasheets; no spec says another.
double usual_port_per_s(const Card& card) { return card.compute_capability_major >= 9 ? 50e9 : 25e9; }

/// One direction of PCI Express with 16 lanes (PCI-SIG: 3.0, 4.0, 5.0), by the generation that cards have.
double host_link_per_s(const Card& card) {
  return card.compute_capability_major >= 9 ? 63.0e9 : card.compute_capability_major == 8 ? 31.5e9 : 15.75e9;
}

/// Of each hop within a node: NVIDIA/nccl src/graph/tuning.cc, hwLatencies, NVLINK and PCI, Simple.
constexpr double kTreeHop = 4.0e-6, kNvlinkRingHop = 3.4e-6, kPciRingHop = 5.7e-6;

/// Of the hops of a ring through all ranks, or for all_reduce up and down a tree of nodes, where that is less (the same
/// file, ncclTopoTuneModel).
double hops_seconds(Collective operation, RankGroup group, double between_nodes, double in_ring) {
  const double nodes = group.nodes();
  if (operation == Collective::alltoall) return (nodes - 1) * between_nodes;
  const double ring = (nodes - 1) * between_nodes + (group.ranks - nodes) * in_ring;
  if (operation != Collective::all_reduce) return ring;
  return 2 * std::min(ring, std::ceil(std::log2(nodes)) * between_nodes + (group.per_node - 1) * kTreeHop);
}

/// Beyond what was measured in proportion.
double extended(const Curve& curve, double bytes) {
  return curve.between(bytes) * std::max(1.0, bytes / curve.at.back());
}

}  // namespace

Links::Links(const Card& card, const Efficiency& reached, double network_bytes_per_s)
    : card_(card),
      reached_(reached),
      port_per_s_(reached.between_nodes.share *
                  (network_bytes_per_s > 0 ? network_bytes_per_s : usual_port_per_s(card))) {}

/// The row of as many ranks, or of the next more, or the last.
double Links::within_node(Collective operation, double bytes, double ranks) const {
  const CollectiveTimes* found = nullptr;
  for (const CollectiveTimes& row : reached_.collectives) {
    if (row.operation != operation) continue;
    if (!found || (row.ranks >= ranks && (found->ranks < ranks || row.ranks < found->ranks)) ||
        (found->ranks < ranks && row.ranks > found->ranks))
      found = &row;
  }
  if (found) return extended(found->seconds, bytes);
  const auto link = static_cast<double>(card_.link.bytes_per_s);
  const double sent = bus_share(operation, ranks) * bytes;
  return reached_.within_node.seconds + (link > 0 ? sent / (reached_.within_node.share * link) : 0);
}

/// Between nodes every GPU's port carries its part (a ring through all GPUs enters and leaves a node by all ports), and
/// it cannot be faster than within one.
double Links::seconds(Collective operation, double bytes, RankGroup group) const {
  if (group.ranks <= 1 || bytes <= 0) return 0;
  const double inside = group.per_node > 1 ? within_node(operation, bytes, group.per_node) : 0;
  if (group.nodes() <= 1) return inside;
  const double in_ring = card_.link.kind == "nvlink" ? kNvlinkRingHop : kPciRingHop;
  const double latency = hops_seconds(operation, group, reached_.between_nodes.seconds, in_ring);
  const double sent = bus_share(operation, group.ranks) * bytes / (port_per_s_ * group.per_node);
  return latency + std::max(inside, sent);
}

double Links::hop_seconds(double bytes, bool inside) const {
  const LinkShare& share = inside ? reached_.within_node : reached_.between_nodes;
  const auto link = static_cast<double>(card_.link.bytes_per_s);
  const double rate = inside && link > 0 ? reached_.within_node.share * link : port_per_s_;
  return share.seconds + bytes / rate;
}

double Links::host_seconds(double bytes) const { return bytes / (reached_.host_link.share * host_link_per_s(card_)); }

}  // namespace tidemark::plan
