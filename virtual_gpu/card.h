// The card that the virtual GPU plays: what the driver would say of it.
#pragma once
#include <cstdint>
#include <string>

namespace tidemark {

/// What a communicator takes of the device, by what it is used for.
struct NcclBytes {
  std::int64_t made = 0, collective = 0, peer = 0;
};

struct Card {
  std::string name = "Tidemark virtual GPU";
  int compute_capability_major = 9, compute_capability_minor = 0;
  std::int64_t total_bytes = 85'045'215'232;
  std::int64_t driver_reserved_bytes = 0;  // what cudaMalloc cannot reach besides the context
  std::int64_t spill_bytes = 0;            // host memory that a Windows driver lends beyond the card
  std::int64_t context_bytes = 0;          // what is in use before the first allocation
  NcclBytes nccl_in_a_node, nccl_across_nodes;
  std::int64_t nccl_alone_bytes = 0;  // a communicator of one rank
  std::int64_t library_bytes = 0;     // what libraries take of the device themselves, counted from the beginning
  int multiprocessors = 132;
  int max_threads_per_multiprocessor = 2048;
  int shared_memory_per_block_bytes = 49'152;
  int shared_memory_per_block_optin_bytes = 232'448;
  int shared_memory_per_multiprocessor_bytes = 233'472;
  int registers_per_multiprocessor = 65'536;
  int l2_bytes = 52'428'800;
  int memory_bus_bits = 5'120;
  int clock_khz = 1'980'000, memory_clock_khz = 2'619'000;
  std::int64_t memory_bandwidth_bytes_per_s = 3'352'320'000'000;
  std::int64_t bf16_flops = 989'400'000'000'000, fp16_flops = 989'400'000'000'000,
               fp32_flops = 66'908'160'000'000;     // per second
  std::int64_t link_bytes_per_s = 450'000'000'000;  // to another card, one way
  int cuda_major = 13, cuda_minor = 0;              // of the torch that runs on it
  int cudnn_version = 90'100, nccl_version = 22'105;
  int devices = 1;                 // of the node; all alike
  bool addresses_descend = false;  // where cudaMalloc places the next segment
};

/// The card described by the file that TIDEMARK_CARD names (`key=value` lines, keys as in data/gpus.json), read once.
/// Without the variable, or for a key that the file does not have, the values above (an H100) hold.
const Card& card();

}  // namespace tidemark
