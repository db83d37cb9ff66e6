// Memory that is not there: addresses that can be read and written like the host's, accounted for against the card's size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace tidemark {

/// One card's memory.  Addresses come from a lazily committed mapping that no page backs until it is touched; `allocate` fails
/// exactly where the card would be full.  Thread-safe.
class DeviceMemory {
 public:
  /// `base`..`base + span_bytes` are the card's addresses; `capacity_bytes` is what an allocation can still reach.
  DeviceMemory(std::byte* base, std::size_t span_bytes, std::int64_t capacity_bytes, bool addresses_descend);

  /// cudaMalloc: null if the card is full.  Sizes count in 2 MiB pages, as the driver hands them out.
  void* allocate(std::size_t bytes);
  /// cudaFree: gives the pages back to the host.  False if `pointer` is not an allocation.
  bool free(void* pointer);

  /// Addresses alone, without memory (cuMemAddressReserve), and memory alone (cuMemCreate / cuMemRelease).
  void* reserve_addresses(std::size_t bytes);
  bool release_addresses(void* pointer);
  bool commit(std::size_t bytes);
  void uncommit(std::size_t bytes);

  bool owns(const void* pointer) const;
  /// The allocation that holds `pointer`: its start and size; false if none does.
  bool find(const void* pointer, void** start, std::size_t* bytes) const;
  std::int64_t used_bytes() const;
  std::int64_t capacity_bytes() const { return capacity_bytes_; }

 private:
  std::byte* place(std::size_t bytes);

  std::byte* const base_;
  const std::size_t span_bytes_;
  const std::int64_t capacity_bytes_;
  const bool addresses_descend_;
  mutable std::mutex mutex_;
  struct Range { std::size_t bytes; bool committed; };
  std::map<std::byte*, Range> ranges_;
  std::int64_t used_bytes_ = 0;
};

/// The card's memory (there is one card).
DeviceMemory& device_memory();

/// Zero-fill or skip: fills of a whole range with zero drop its pages instead of touching them.
void fill(void* pointer, int value, std::size_t bytes);
/// A copy as the driver would do it, where the bytes can matter: 16 MiB or less, and not the data of a float operation.
void copy(void* destination, const void* source, std::size_t bytes);

}  // namespace tidemark
