// What a process takes of the card beside the context and PyTorch's allocator: libraries, and the communicators of
// NCCL.  The figures, each with its source, are in data/device_memory.json; docs/design/device.md tells how they are
// put together.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace tidemark {

/// A communicator of NCCL as the memory of one of its ranks depends on it.
struct Communicator {
  std::string name;
  std::vector<std::int64_t> ranks;  // in the world, by their number in the communicator
  bool across_nodes = false;
  bool collective = false;  // a collective has connected its channels
  std::int64_t peers = 0;   // ranks that it has sent to or received from one by one

  bool operator==(const Communicator&) const = default;
};

/// Counts that depend on the links between GPUs; not bytes.
struct ChannelCounts {
  std::string link;  // Link::kind
  bool across_nodes = false;
  BytesRange collective, point_to_point;
};

/// Sizes in NCCL's own source.
struct NcclMemory {
  std::string version;
  std::int64_t granularity_bytes = 0;    // to which it rounds every allocation
  std::int64_t made_allocations = 0;     // of a communicator
  std::int64_t channel_allocations = 0;  // of each of its channels
  std::int64_t control_bytes = 0, ll_bytes = 0, ll128_bytes = 0, simple_bytes = 0;  // of a connection
  std::int64_t shared_network_bytes = 0;  // of a channel and direction, for all peers on other nodes
  std::int64_t nvls_bytes = 0, nvls_channels = 0;
  BytesRange alone_bytes;  // a communicator of one rank
  std::vector<ChannelCounts> channels;
};

/// Made without the file it counts nothing.
struct DeviceMemoryTable {
  BytesRange library_bytes;
  NcclMemory nccl;
};

/// What of a communicator is taken when: at its making, at its first collective, at the first message to each peer.
struct CommunicatorBytes {
  BytesRange made, collective, peer;
};

bool knows_link(const NcclMemory& nccl, const std::string& link);

/// Of a communicator of `ranks` on cards with such links.  Throws Error{unsupported} for links that are not known.
CommunicatorBytes communicator_bytes(const NcclMemory& nccl, const std::string& link, std::int64_t ranks,
                                     bool across_nodes);

/// All that a communicator has taken in the end.
BytesRange total_bytes(const NcclMemory& nccl, const std::string& link, const Communicator& communicator);

}  // namespace tidemark
