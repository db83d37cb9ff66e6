// Mirrors which process groups PyTorch 2.11.0 and DeepSpeed make a communicator for, in the programs that the
// strategies stand for: a group has none until a collective or a message needs it (ProcessGroupNCCL.cpp, initNCCLComm).
#include "estimate/communicators.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/releases.h"
#include "estimate/strategies.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

constexpr const char *kWorld = "world", *kClone = "clone of the world";

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
  /// One that is made and not used.
  void unused(const std::string& name, std::vector<std::int64_t> ranks) { add(name, std::move(ranks)); }
  /// Messages to that many others.
  void exchange(const std::string& name, std::vector<std::int64_t> ranks, std::int64_t peers) {
    Communicator& one = add(name, std::move(ranks));
    one.peers = std::max(one.peers, peers);
  }

  std::vector<Communicator> finish() && { return std::move(all_); }

 private:
  /// A mesh of the whole world has the group of the world (device_mesh.py, _init_process_groups); DeepSpeed alone
  /// clones it.
  Communicator& add(const std::string& asked, std::vector<std::int64_t> ranks) {
    const bool is_world = static_cast<std::int64_t>(ranks.size()) == spec_.gpus && asked != kClone;
    const std::string name = is_world ? kWorld : asked;
    for (Communicator& known : all_)
      if (known.name == name) return known;
    const std::int64_t per_node = ranks_per_node(spec_);
    const bool across = ranks.front() / per_node != ranks.back() / per_node;
    all_.push_back({.name = name, .ranks = std::move(ranks), .across_nodes = across, .collective = false, .peers = 0});
    return all_.back();
  }

  const Spec& spec_;
  std::vector<Communicator> all_;
};

/// P2POps of a schedule go in batches, which take the communicator of the group (ProcessGroupNCCL::pointToPoint).
void add_pipeline(List& list, const Spec& spec, const MeshPlace& place) {
  const std::vector<std::int64_t> stages = list.group(place.stages, spec.gpus / place.stages);
  const bool wraps = spec.pp->stages_per_rank > 1;  // the last one's next stage is the first one's
  std::int64_t neighbours = 0;
  for (std::int64_t other = 0; other < place.stages; ++other) {
    const std::int64_t distance = std::abs(other - place.stage);
    if (distance == 1 || (wraps && distance > 0 && distance == place.stages - 1)) ++neighbours;
  }
  list.exchange("pp", stages, neighbours);
  if (spec.max_grad_norm || known_torch_rules(spec.torch).stages_vote) list.collective("pp", stages);
}

/// distribute_tensor: the first rank has the parameters, and sends each of the others its part (mesh_scatter).
void add_tensor_parallel(List& list, const MeshPlace& place) {
  const std::vector<std::int64_t> parts = list.group(place.parts, 1);
  list.collective("tp", parts);
  list.exchange("tp", parts, place.part == 0 ? place.parts - 1 : 1);
}

/// deepspeed.init_distributed binds the world to its device, so that its communicator is made at once, and a clone of
/// it is split off (deepspeed/utils/groups.py, _clone_world_group).  Stages 1 and 2 use the clone alone, stage 3 both.
void add_zero(List& list, const Spec& spec, const std::vector<std::int64_t>& world) {
  if (spec.parallel == Parallel::zero3)
    list.collective(kWorld, world);
  else
    list.unused(kWorld, world);
  list.collective(kClone, world);
}

/// Keys and values go round, and their gradients always do by an exchange of all with all
/// (_templated_ring_attention_backward).
void add_context_parallel(List& list, const Spec& spec) {
  const std::vector<std::int64_t> sharing = list.group(spec.cp->degree, 1);
  list.exchange("cp", sharing, spec.cp->degree - 1);
  if (spec.cp->rotate_method == RotateMethod::allgather) list.collective("cp", sharing);
}

void add_fsdp1(List& list, const Spec& spec) {
  const bool is_hybrid = spec.fsdp1 && (spec.fsdp1->sharding_strategy == ShardingStrategy::hybrid_shard ||
                                        spec.fsdp1->sharding_strategy == ShardingStrategy::hybrid_shard_zero2);
  const std::int64_t shards = is_hybrid ? ranks_per_node(spec) : spec.gpus;
  list.collective("shard", list.group(shards, 1));
  if (shards < spec.gpus) list.collective("replicate", list.group(spec.gpus / shards, shards));
}

}  // namespace

std::vector<Communicator> communicators_of(const Spec& spec) {
  using enum Parallel;
  if (spec.gpus == 1) return {};
  List list(spec);
  const MeshPlace place = place_of(spec);
  const std::vector<std::int64_t> world = list.group(spec.gpus, 1);
  if (spec.pp) add_pipeline(list, spec, place);
  if (place.parts > 1) add_tensor_parallel(list, place);
  if ((spec.parallel == fsdp2 || spec.parallel == ddp) && place.shards > 1)
    list.collective("dp_shard", list.group(place.shards, place.parts));
  if (spec.parallel == fsdp2 && place.copies > 1)
    list.collective("dp_replicate", list.group(place.copies, place.parts * place.shards));
  if (spec.parallel == zero1 || spec.parallel == zero2 || spec.parallel == zero3) add_zero(list, spec, world);
  // GeminiDDP without a zero_group, as it is recorded.  colossalai/zero/gemini/gemini_ddp.py (0.5.0)
  if (spec.parallel == ep || spec.parallel == gemini) list.collective(kWorld, world);
  if (spec.parallel == fsdp1) add_fsdp1(list, spec);
  if (spec.cp && spec.cp->degree > 1) add_context_parallel(list, spec);
  return std::move(list).finish();
}

}  // namespace tidemark
