#include "communicators.h"

#include <cstdlib>
#include <deque>
#include <mutex>
#include <set>
#include <string>

#include "card.h"
#include "device_memory.h"

namespace tidemark {
namespace {

struct Use {
  Group group;
  bool across_nodes = false, collective = false;
  std::set<int> peers;
};

struct Uses {
  std::mutex mutex;
  std::deque<Use> all;
  std::string text;
};

Uses& uses() {
  static auto* made = new Uses;  // never destroyed: PyTorch's threads outlive static destructors
  return *made;
}

bool is_across_nodes(const Group& group) {
  const char* text = std::getenv("TIDEMARK_RANKS_PER_NODE");
  const int per_node = text ? std::atoi(text) : 0;
  if (per_node > 0)
    for (const int rank : group.ranks)
      if (rank / per_node != group.ranks.front() / per_node) return true;
  return false;
}

void take(std::int64_t bytes) { device_memory().take(static_cast<std::size_t>(bytes)); }

const NcclBytes& bytes_of(const Use& use) {
  return use.across_nodes ? card().nccl_across_nodes : card().nccl_in_a_node;
}

}  // namespace

int note_communicator(const Group& group) {
  const std::lock_guard lock(uses().mutex);
  uses().all.push_back({group, is_across_nodes(group), false, {}});
  take(group.ranks.size() == 1 ? card().nccl_alone_bytes : bytes_of(uses().all.back()).made);
  return static_cast<int>(uses().all.size()) - 1;
}

void note_collective(int communicator) {
  const std::lock_guard lock(uses().mutex);
  Use& use = uses().all[static_cast<std::size_t>(communicator)];
  if (use.collective || use.group.ranks.size() == 1) return;
  use.collective = true;
  take(bytes_of(use).collective);
}

void note_message(int communicator, int peer) {
  const std::lock_guard lock(uses().mutex);
  Use& use = uses().all[static_cast<std::size_t>(communicator)];
  if (use.group.ranks.size() == 1 || !use.peers.insert(peer).second) return;
  if (!use.across_nodes || use.peers.size() == 1)
    take(bytes_of(use).peer);  // over the network all peers share the buffers
}

}  // namespace tidemark

using namespace tidemark;

const char* tidemark_communicators() {
  const std::lock_guard lock(uses().mutex);
  uses().text.clear();
  for (const Use& use : uses().all) {
    std::string ranks;
    for (const int rank : use.group.ranks) ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
    uses().text += use.group.name + "\t" + ranks + "\t" + (use.collective ? "1" : "0") + "\t" +
                   std::to_string(use.peers.size()) + "\n";
  }
  return uses().text.c_str();
}
