// A card, as the text of a user's file.
#pragma once
#include <string>

namespace tidemark {

inline std::string sample_card_text() {
  return R"({
  "key": "test-24gb", "aliases": ["test"], "name": "NVIDIA Test 24GB", "compute_capability": [8, 6],
  "nominal_gib": 24, "total_bytes": 25769803776, "total_bytes_exact": true, "driver_reserved_bytes": 134217728,
  "context_bytes": {"low": 200000000, "high": 400000000, "typical": 300000000},
  "multiprocessors": 82, "max_threads_per_multiprocessor": 1536, "shared_memory_per_block_bytes": 49152,
  "shared_memory_per_block_optin_bytes": 101376, "shared_memory_per_multiprocessor_bytes": 102400,
  "registers_per_multiprocessor": 65536, "l2_bytes": 6291456, "memory_bus_bits": 384,
  "memory_bandwidth_bytes_per_s": 936000000000, "clock_khz": 1695000, "memory_clock_khz": 9751000,
  "bf16_flops": 71000000000000, "fp16_flops": 71000000000000, "fp32_flops": 35600000000000,
  "link": {"kind": "pcie", "bytes_per_s": 32000000000}, "sources": {"total_bytes": "made up"}
})";
}

/// The text with the first `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace tidemark
