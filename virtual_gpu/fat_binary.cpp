#include "fat_binary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "card.h"

namespace tidemark {
namespace {

// fatbinary_section.h of the toolkit, and the layout that cuobjdump reads.
struct Wrapper { std::uint32_t magic, version; const std::byte* data; const void* file_name; };
struct Header { std::uint32_t magic; std::uint16_t version, header_bytes; std::uint64_t bytes; };
struct Entry {
  std::uint16_t kind, attributes;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, options_offset;
  std::uint16_t minor, major;
  std::uint32_t architecture;
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1, kHeaderMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1, kMachineCode = 2;

struct FatBinary { const std::byte* data; };

struct Kernels {
  std::mutex mutex;
  std::deque<FatBinary> binaries;
  std::vector<std::pair<const void*, const FatBinary*>> kernels;   // a large library registers tens of thousands: sorted when first asked
  bool sorted = true;
};

Kernels& all() {
  static auto* the = new Kernels;
  return *the;
}

const FatBinary* binary_of(const void* function) {
  const std::lock_guard lock(all().mutex);
  auto& kernels = all().kernels;
  if (!all().sorted) std::sort(kernels.begin(), kernels.end());
  all().sorted = true;
  const auto at = std::lower_bound(kernels.begin(), kernels.end(), function, [](const auto& kernel, const void* f) { return kernel.first < f; });
  return at != kernels.end() && at->first == function ? at->second : nullptr;
}

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

void** remember_fat_binary(const void* wrapper) {
  const auto outer = read<Wrapper>(static_cast<const std::byte*>(wrapper));
  const std::lock_guard lock(all().mutex);
  all().binaries.push_back({outer.magic == kWrapperMagic && outer.version == 1 ? outer.data : nullptr});
  return reinterpret_cast<void**>(&all().binaries.back());
}

void remember_kernel(void** fat_binary, const void* host_function) {
  const std::lock_guard lock(all().mutex);
  all().kernels.emplace_back(host_function, reinterpret_cast<const FatBinary*>(fat_binary));
  all().sorted = false;
}

KernelImage image_for_card(const void* host_function) {
  const int own = card().compute_capability_major * 10 + card().compute_capability_minor;
  const FatBinary* binary = binary_of(host_function);
  if (!binary || !binary->data) return {own, own};
  const auto header = read<Header>(binary->data);
  if (header.magic != kHeaderMagic) return {own, own};
  int code = 0, ptx = 0;
  bool all_later = true;
  const std::byte* const end = binary->data + header.header_bytes + header.bytes;
  for (const std::byte* at = binary->data + header.header_bytes; at + sizeof(Entry) <= end;) {
    const auto entry = read<Entry>(at);
    const int architecture = static_cast<int>(entry.architecture);
    all_later &= architecture > own;
    if (entry.kind == kMachineCode && architecture / 10 == own / 10 && architecture <= own) code = std::max(code, architecture);
    if (entry.kind == kPtx && architecture <= own) ptx = std::max(ptx, architecture);
    at += entry.header_bytes + entry.bytes;
  }
  if (code) return {code, code};
  if (all_later) return {0, 0};
  return ptx ? KernelImage{ptx, own} : KernelImage{own, own};
}

}  // namespace tidemark
