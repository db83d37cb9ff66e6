#include "card.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tidemark {
namespace {

void set_field(Card& card, const std::string& key, const char* value) {
  const auto number = std::strtoll(value, nullptr, 10);
  const auto as_int = static_cast<int>(number);
  if (key == "name")
    card.name = value;
  else if (key == "compute_capability_major")
    card.compute_capability_major = as_int;
  else if (key == "compute_capability_minor")
    card.compute_capability_minor = as_int;
  else if (key == "total_bytes")
    card.total_bytes = number;
  else if (key == "driver_reserved_bytes")
    card.driver_reserved_bytes = number;
  else if (key == "spill_bytes")
    card.spill_bytes = number;
  else if (key == "context_bytes")
    card.context_bytes = number;
  else if (key == "library_bytes")
    card.library_bytes = number;
  else if (key == "nccl_alone_bytes")
    card.nccl_alone_bytes = number;
  else if (key == "nccl_made_bytes")
    card.nccl_in_a_node.made = number;
  else if (key == "nccl_collective_bytes")
    card.nccl_in_a_node.collective = number;
  else if (key == "nccl_peer_bytes")
    card.nccl_in_a_node.peer = number;
  else if (key == "nccl_made_across_nodes_bytes")
    card.nccl_across_nodes.made = number;
  else if (key == "nccl_collective_across_nodes_bytes")
    card.nccl_across_nodes.collective = number;
  else if (key == "nccl_peer_across_nodes_bytes")
    card.nccl_across_nodes.peer = number;
  else if (key == "multiprocessors")
    card.multiprocessors = as_int;
  else if (key == "max_threads_per_multiprocessor")
    card.max_threads_per_multiprocessor = as_int;
  else if (key == "shared_memory_per_block_bytes")
    card.shared_memory_per_block_bytes = as_int;
  else if (key == "shared_memory_per_block_optin_bytes")
    card.shared_memory_per_block_optin_bytes = as_int;
  else if (key == "shared_memory_per_multiprocessor_bytes")
    card.shared_memory_per_multiprocessor_bytes = as_int;
  else if (key == "registers_per_multiprocessor")
    card.registers_per_multiprocessor = as_int;
  else if (key == "l2_bytes")
    card.l2_bytes = as_int;
  else if (key == "memory_bus_bits")
    card.memory_bus_bits = as_int;
  else if (key == "clock_khz")
    card.clock_khz = as_int;
  else if (key == "memory_clock_khz")
    card.memory_clock_khz = as_int;
  else if (key == "memory_bandwidth_bytes_per_s")
    card.memory_bandwidth_bytes_per_s = number;
  else if (key == "bf16_flops")
    card.bf16_flops = number;
  else if (key == "fp16_flops")
    card.fp16_flops = number;
  else if (key == "fp32_flops")
    card.fp32_flops = number;
  else if (key == "link_bytes_per_s")
    card.link_bytes_per_s = number;
  else if (key == "cuda_major")
    card.cuda_major = as_int;
  else if (key == "cuda_minor")
    card.cuda_minor = as_int;
  else if (key == "cudnn_version")
    card.cudnn_version = as_int;
  else if (key == "nccl_version")
    card.nccl_version = as_int;
  else if (key == "devices")
    card.devices = as_int;
  else if (key == "addresses_descend")
    card.addresses_descend = as_int != 0;
}

Card read_card() {
  Card card;
  const char* path = std::getenv("TIDEMARK_CARD");
  std::FILE* file = path ? std::fopen(path, "r") : nullptr;
  if (!file) return card;
  char line[512];
  while (std::fgets(line, sizeof line, file)) {
    line[std::strcspn(line, "\r\n")] = '\0';
    if (char* equals = std::strchr(line, '=')) {
      *equals = '\0';
      set_field(card, line, equals + 1);
    }
  }
  std::fclose(file);
  return card;
}

}  // namespace

const Card& card() {
  static const Card the_card = read_card();
  return the_card;
}

}  // namespace tidemark
