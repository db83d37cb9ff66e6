// Mirrors which process groups PyTorch 2.11.0 and DeepSpeed make a communicator for, in the programs that the
// strategies stand for: a group has none until a collective or a message needs it (ProcessGroupNCCL.cpp, initNCCLComm).
#include "estimate/communicators.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/strategies.h"

namespace tidemark {
namespace {

class List {
 public:
  explicit List(const Spec& spec) : spec_(spec) {}

  /// `count` ranks that are `stride` apart, among them this one.
  std::vector<std::int64_t> group(std::int64_t count, std::int64_t stride) const {
    const std::int64_t first = spec_.rank - spec_.rank / stride % count * stride;
    std::vector<std::int64_t> ranks;
    for (std::int64_t i = 0; i < count; ++i) ranks.push_back(first + i * stride);
    return ranks;
  }

  void collective(const std::string& name, std::vector<std::int64_t> ranks) {
    add(name, std::move(ranks)).collective = true;
  }
  /// Messages to all others.
  void exchange(const std::string& name, std::vector<std::int64_t> ranks) {
    Communicator& one = add(name, std::move(ranks));
    one.peers = static_cast<std::int64_t>(one.ranks.size()) - 1;
  }

  std::vector<Communicator> finish() && { return std::move(all_); }

 private:
  /// One of the world is one, whoever asks for it.
  Communicator& add(const std::string& name, std::vector<std::int64_t> ranks) {
    for (Communicator& known : all_)
      if (known.ranks == ranks && known.name == name) return known;
    const std::int64_t per_node = ranks_per_node(spec_);
    const bool across = ranks.front() / per_node != ranks.back() / per_node;
    all_.push_back({.name = name, .ranks = std::move(ranks), .across_nodes = across, .collective = false, .peers = 0});
    return all_.back();
  }

  const Spec& spec_;
  std::vector<Communicator> all_;
};

constexpr const char* kWorld = "world";

void add_pipeline(List& list, const Spec& spec, const MeshPlace& place) {
  const std::int64_t stride = spec.gpus / place.stages;
  const std::vector<std::int64_t> stages = list.group(place.stages, stride);
  // A message outside a batch has a communicator of two ranks (ProcessGroupNCCL::pointToPoint, getKeySendRecv).
  const bool wraps = spec.pp->stages_per_rank > 1;
  for (std::int64_t other = 0; other < place.stages; ++other) {
    const std::int64_t distance = std::abs(other - place.stage);
    const bool is_neighbour = distance == 1 || (wraps && distance == place.stages - 1);
    if (!is_neighbour) continue;
    const auto at = [&](std::int64_t stage) { return stages[static_cast<std::size_t>(stage)]; };
    list.exchange("pp", {at(std::min(other, place.stage)), at(std::max(other, place.stage))});
  }
  if (spec.max_grad_norm) list.collective("pp", stages);
}

}  // namespace

std::vector<Communicator> communicators_of(const Spec& spec) {
  using enum Parallel;
  if (spec.gpus == 1) return {};
  List list(spec);
  const MeshPlace place = place_of(spec);
  const std::vector<std::int64_t> world = list.group(spec.gpus, 1);
  if (spec.pp) add_pipeline(list, spec, place);
  if (place.parts > 1) list.collective(place.parts == spec.gpus ? kWorld : "tp", list.group(place.parts, 1));
  const std::int64_t shards_stride = place.parts, copies_stride = place.parts * place.shards;
  const bool is_whole = place.shards == spec.gpus;
  if ((spec.parallel == fsdp2 || spec.parallel == ddp) && place.shards > 1)
    list.collective(is_whole ? kWorld : "dp_shard", list.group(place.shards, shards_stride));
  if (spec.parallel == fsdp2 && place.copies > 1)
    list.collective("dp_replicate", list.group(place.copies, copies_stride));
  if (spec.parallel == zero1 || spec.parallel == zero2 || spec.parallel == zero3 || spec.parallel == ep)
    list.collective(kWorld, world);
  if (spec.parallel == fsdp1) {
    const bool is_hybrid = spec.fsdp1 && (spec.fsdp1->sharding_strategy == ShardingStrategy::hybrid_shard ||
                                          spec.fsdp1->sharding_strategy == ShardingStrategy::hybrid_shard_zero2);
    const std::int64_t shards = is_hybrid ? ranks_per_node(spec) : spec.gpus;
    list.collective(shards == spec.gpus ? kWorld : "shard", list.group(shards, 1));
    if (shards < spec.gpus) list.collective("replicate", list.group(spec.gpus / shards, shards));
  }
  if (spec.cp && spec.cp->degree > 1) {
    const std::vector<std::int64_t> sharing = list.group(spec.cp->degree, 1);
    if (spec.cp->rotate_method == RotateMethod::alltoall)
      list.exchange("cp", sharing);
    else
      list.collective("cp", sharing);
  }
  return std::move(list).finish();
}

}  // namespace tidemark
