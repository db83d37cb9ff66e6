// Memory that is not there: addresses that can be read and written like the host's, accounted for against the card's
// size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace tidemark {

/// The memory of a node's cards.  Addresses come from a lazily committed mapping that no page backs until it is
/// touched, of which each card has an equal part; `allocate` fails exactly where the current device (devices.h) would
/// be full.  Thread-safe.
class DeviceMemory {
 public:
  /// `base`..`base + span_bytes` are the addresses of `devices` cards; `capacity_bytes` is what an allocation on one
  /// can still reach, and `spill_bytes` what it gets beyond the card.
  DeviceMemory(std::byte* base, std::size_t span_bytes, std::int64_t capacity_bytes, bool addresses_descend,
               int devices = 1, std::int64_t spill_bytes = 0);

  /// cudaMalloc: null if the card is full.  Sizes count in 2 MiB pages, as the driver hands them out.
  void* allocate(std::size_t bytes);
  /// cudaFree: gives the pages back to the host.  False if `pointer` is not an allocation.
  bool free(void* pointer);

  /// Addresses alone, without memory (cuMemAddressReserve), and memory alone (cuMemCreate / cuMemRelease).
  void* reserve_addresses(std::size_t bytes);
  bool release_addresses(void* pointer);
  bool commit(std::size_t bytes);
  void uncommit(std::size_t bytes);

  /// What a library has taken by itself: for good, and without addresses.  The card may be overfull by it; the next
  /// allocation fails then.
  void take(std::size_t bytes);

  bool owns(const void* pointer) const;
  /// The allocation that holds `pointer`: its start and size; false if none does.
  bool find(const void* pointer, void** start, std::size_t* bytes) const;
  /// The card whose addresses hold `pointer`, which must be one that `owns` is true of.
  int device_of(const void* pointer) const;
  /// On the current device, and on any.
  std::int64_t used_bytes() const;
  std::int64_t used_bytes(int device) const;
  /// The most that was used at one time, without what libraries have taken.
  std::int64_t peak_bytes(int device) const;
  std::int64_t capacity_bytes() const { return capacity_bytes_; }

 private:
  struct Range {
    std::size_t bytes;
    bool committed;
  };
  struct Part {  // one card's
    std::byte* base;
    std::map<std::byte*, Range> ranges;
    std::int64_t used_bytes = 0, taken_bytes = 0, peak_bytes = 0;
  };
  static void use(Part& part, std::int64_t bytes);
  std::byte* place(const Part& part, std::size_t bytes) const;
  Part& current_part();
  const Part& part_of(const void* pointer) const { return parts_[static_cast<std::size_t>(device_of(pointer))]; }

  std::byte* const base_;
  const std::size_t part_bytes_;  // of addresses
  const std::int64_t capacity_bytes_, spill_bytes_;
  const bool addresses_descend_;
  mutable std::mutex mutex_;
  std::vector<Part> parts_;
};

/// All there is.
DeviceMemory& device_memory();

/// Zero-fill or skip: fills of a whole range with zero drop its pages instead of touching them.
void fill(void* pointer, int value, std::size_t bytes);
/// A copy as the driver would do it, where the bytes can matter: 16 MiB or less, and not the data of a float operation.
void copy(void* destination, const void* source, std::size_t bytes);

}  // namespace tidemark
