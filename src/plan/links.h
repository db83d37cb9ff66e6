// How long what ranks send each other takes.
#pragma once
#include "memory/card.h"
#include "plan/efficiency.h"

namespace tidemark::plan {

/// Ranks that send to each other, and how many of them one node has.
struct RankGroup {
  double ranks = 1, per_node = 1;

  double nodes() const { return ranks / per_node; }
};

class Links {
 public:
  /// `network_bytes_per_s` is one direction of one GPU's port (0: as cards of its generation have it).
  Links(const Card& card, const Efficiency& reached, double network_bytes_per_s);

  /// `bytes` is what all ranks have of it together: what is gathered, reduced, or scattered.
  double seconds(Collective operation, double bytes, RankGroup group) const;
  /// From one rank to the next.
  double hop_seconds(double bytes, bool within_node) const;
  /// To the host, or from there.
  double host_seconds(double bytes) const;

 private:
  double within_node(Collective operation, double bytes, double ranks) const;

  const Card& card_;
  const Efficiency& reached_;
  const double port_per_s_;
};

}  // namespace tidemark::plan
