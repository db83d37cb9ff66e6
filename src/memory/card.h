// A graphics card, as far as memory depends on it.  One record per card in data/gpus.json, with a source per figure.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memory/device_memory.h"

namespace tidemark {

/// What joins the card to others of its kind, in one direction.
struct Link {
  std::string kind;  // "nvlink" or "pcie"
  std::int64_t bytes_per_s = 0;
};

struct Card {
  std::string key;                   // "h100-80gb"
  std::vector<std::string> aliases;  // other names that --gpu accepts
  std::string name;                  // as the driver reports it: "NVIDIA H100 80GB HBM3"
  std::int64_t compute_capability_major = 0, compute_capability_minor = 0;
  std::int64_t nominal_gib = 0;            // the size in its name
  std::int64_t total_bytes = 0;            // cudaDeviceProp::totalGlobalMem
  bool total_bytes_exact = false;          // false: known in MiB or GiB only, or estimated
  std::int64_t driver_reserved_bytes = 0;  // of the total, what no process can allocate
  bool wddm = false;                       // a Windows driver, which goes on in host memory beyond the card
  BytesRange context_bytes;                // what the CUDA context takes before the first allocation
  std::int64_t multiprocessors = 0;
  std::int64_t max_threads_per_multiprocessor = 0;
  std::int64_t shared_memory_per_block_bytes = 0;
  std::int64_t shared_memory_per_block_optin_bytes = 0;
  std::int64_t shared_memory_per_multiprocessor_bytes = 0;
  std::int64_t registers_per_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bus_bits = 0;
  std::int64_t memory_bandwidth_bytes_per_s = 0;
  std::int64_t clock_khz = 0;
  std::int64_t memory_clock_khz = 0;
  std::int64_t bf16_flops = 0, fp16_flops = 0, fp32_flops = 0;  // per second, dense; 0 without such hardware
  Link link;
  std::map<std::string, std::string> sources;  // field -> where the figure comes from
  DeviceMemoryTable beside;  // what is no property of the card: what libraries and communicators take of it
};

/// Calls visit(name, value) for each figure that is a plain whole number, in the order in which they are written.
template <class AnyCard, class Visitor>
void visit_figures(AnyCard& card, Visitor&& visit) {
  visit("total_bytes", card.total_bytes);
  visit("driver_reserved_bytes", card.driver_reserved_bytes);
  visit("multiprocessors", card.multiprocessors);
  visit("max_threads_per_multiprocessor", card.max_threads_per_multiprocessor);
  visit("shared_memory_per_block_bytes", card.shared_memory_per_block_bytes);
  visit("shared_memory_per_block_optin_bytes", card.shared_memory_per_block_optin_bytes);
  visit("shared_memory_per_multiprocessor_bytes", card.shared_memory_per_multiprocessor_bytes);
  visit("registers_per_multiprocessor", card.registers_per_multiprocessor);
  visit("l2_bytes", card.l2_bytes);
  visit("memory_bus_bits", card.memory_bus_bits);
  visit("memory_bandwidth_bytes_per_s", card.memory_bandwidth_bytes_per_s);
  visit("clock_khz", card.clock_khz);
  visit("memory_clock_khz", card.memory_clock_khz);
}

}  // namespace tidemark
