// The card under the allocator: how much the driver hands out, and at which address.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

namespace tidemark {

/// Where the driver places the next segment.  A policy, since it is nowhere written down: equal free blocks are taken
/// by address, so the order moves peaks, and a prediction that matters is made with both.
enum class AddressOrder : std::uint8_t { ascending, descending };

struct DriverMemoryConfig {
  std::int64_t total_bytes = 85'045'215'232;  // cudaDeviceProp::totalGlobalMem (an H100 80 GB)
  std::int64_t unavailable_bytes = 0;         // of it, what no process can allocate
  std::int64_t context_bytes = 0;             // in use before the first allocation
  AddressOrder addresses = AddressOrder::ascending;
};

/// First fit in 2 MiB pages, from the end that the policy names.  Address 0 is where an empty card's first segment
/// begins (ascending) or ends (descending).
class DriverMemory {
 public:
  static constexpr std::int64_t kPageBytes = 2 << 20;                // what the driver maps device memory in
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 44;  // 16 TiB: larger cards are refused
  static constexpr std::int64_t kSpanBytes = std::int64_t{1} << 47;  // addresses that there are

  /// Throws Error{bad_value} for a card that cannot be.
  explicit DriverMemory(const DriverMemoryConfig& config);

  /// cudaMalloc and cudaFree; nothing when the card is full.
  std::optional<std::int64_t> allocate(std::int64_t bytes);
  void free(std::int64_t address);
  /// Addresses without memory (cuMemAddressReserve), memory without addresses (cuMemCreate).
  std::optional<std::int64_t> reserve_addresses(std::int64_t bytes);
  bool commit(std::int64_t bytes);
  /// What a library has taken by itself: for good, and without addresses.  The card may be overfull by it; the next
  /// allocation fails then.
  void take(std::int64_t bytes) { used_bytes_ += bytes; }
  void uncommit(std::int64_t bytes);

  std::int64_t total_bytes() const { return config_.total_bytes; }
  std::int64_t free_bytes() const;     // cudaMemGetInfo
  std::int64_t process_bytes() const;  // what nvidia-smi shows

 private:
  struct Range {
    std::int64_t bytes;
    bool committed;
  };
  std::optional<std::int64_t> place(std::int64_t pages_bytes) const;

  DriverMemoryConfig config_;
  std::int64_t capacity_bytes_, used_bytes_ = 0;
  std::map<std::int64_t, Range> ranges_;
  bool has_holes_ = false;  // there may be room between ranges
};

}  // namespace tidemark
