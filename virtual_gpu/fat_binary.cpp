#include "fat_binary.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "card.h"
#include "lz4.h"

namespace tidemark {
namespace {

// fatbinary_section.h of the toolkit, and the layout that cuobjdump reads.
struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* data;
  const void* file_name;
};
struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;
};
struct Entry {
  std::uint16_t kind, attributes;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, options_offset;
  std::uint16_t minor, major;
  std::uint32_t architecture;
};
// What follows in an entry's header, and the flags: FatbinFileHeader of ZLUDA (cuda_types/src/dark_api.rs).
constexpr std::size_t kFlagsOffset = 40, kUnpackedBytesOffset = 56, kFullEntryBytes = 64;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;
constexpr std::uint32_t kWrapperMagic = 0x466243b1, kHeaderMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1, kMachineCode = 2;

struct FatBinary {
  const std::byte* data;
};

struct Kernels {
  std::mutex mutex;
  std::deque<FatBinary> binaries;
  std::vector<std::pair<const void*, const FatBinary*>>
      kernels;  // a large library registers tens of thousands: sorted when first asked
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
  const auto at = std::lower_bound(kernels.begin(), kernels.end(), function,
                                   [](const auto& kernel, const void* f) { return kernel.first < f; });
  return at != kernels.end() && at->first == function ? at->second : nullptr;
}

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

int architecture_of_card() { return card().compute_capability_major * 10 + card().compute_capability_minor; }

bool runs_on_card(const Entry& entry) {
  const int own = architecture_of_card(), architecture = static_cast<int>(entry.architecture);
  return entry.kind == kMachineCode && architecture / 10 == own / 10 && architecture <= own;
}

template <class Visit>
void for_each_entry(const std::byte* binary, Visit visit) {
  const auto header = read<Header>(binary);
  const std::byte* const end = binary + header.header_bytes + header.bytes;
  for (const std::byte* at = binary + header.header_bytes; at + sizeof(Entry) <= end;) {
    const auto entry = read<Entry>(at);
    visit(entry, at);
    at += entry.header_bytes + entry.bytes;
  }
}

/// zstd by whichever library of it the machine has: nvcc compresses with it since CUDA 12.8.
std::vector<std::byte> zstd_decode(std::span<const std::byte> frame, std::size_t bytes) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  static const auto decompress = [] {
    void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress")) : nullptr;
  }();
  if (!decompress) return {};
  std::vector<std::byte> out(bytes);
  return decompress(out.data(), bytes, frame.data(), frame.size()) == bytes ? out : std::vector<std::byte>{};
}

std::vector<std::byte> unpacked(const std::byte* start) {
  const auto entry = read<Entry>(start);
  const std::byte* const payload = start + entry.header_bytes;
  const bool compressed = entry.header_bytes >= kFullEntryBytes && entry.compressed_bytes != 0;
  if (!compressed) return {payload, payload + entry.bytes};
  const auto flags = read<std::uint64_t>(start + kFlagsOffset);
  const auto bytes = static_cast<std::size_t>(read<std::uint64_t>(start + kUnpackedBytesOffset));
  const std::span<const std::byte> packed(payload, entry.compressed_bytes);
  if (flags & kLz4) return lz4_decode(packed, bytes);
  return flags & kZstd ? zstd_decode(packed, bytes) : std::vector<std::byte>{};
}

/// An ELF file ends with its section headers or its last segment's contents, whichever is later (Elf64_Ehdr: e_phoff,
/// e_shoff and their counts).
std::size_t elf_bytes(const std::byte* file) {
  const auto header = read<Elf64_Ehdr>(file);
  const std::size_t program_headers = header.e_phoff + std::size_t{header.e_phentsize} * header.e_phnum;
  const std::size_t section_headers = header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;
  return std::max(program_headers, section_headers);
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
  const int own = architecture_of_card();
  const FatBinary* binary = binary_of(host_function);
  if (!binary || !binary->data || read<Header>(binary->data).magic != kHeaderMagic) return {own, own};
  int code = 0, ptx = 0;
  bool all_later = true;
  for_each_entry(binary->data, [&](const Entry& entry, const std::byte*) {
    const int architecture = static_cast<int>(entry.architecture);
    all_later &= architecture > own;
    if (runs_on_card(entry)) code = std::max(code, architecture);
    if (entry.kind == kPtx && architecture <= own) ptx = std::max(ptx, architecture);
  });
  if (code) return {code, code};
  if (all_later) return {0, 0};
  return ptx ? KernelImage{ptx, own} : KernelImage{own, own};
}

MachineCode machine_code_for_card(const void* data) {
  const auto* at = static_cast<const std::byte*>(data);
  if (read<std::uint32_t>(at) == kWrapperMagic) at = read<Wrapper>(at).data;
  if (std::memcmp(at, ELFMAG, SELFMAG) == 0) return {{at, at + elf_bytes(at)}, architecture_of_card()};
  if (read<std::uint32_t>(at) != kHeaderMagic) return {{}, 0};
  const std::byte* best = nullptr;
  int latest = 0;
  for_each_entry(at, [&](const Entry& entry, const std::byte* start) {
    if (runs_on_card(entry) && static_cast<int>(entry.architecture) > latest)
      best = start, latest = static_cast<int>(entry.architecture);
  });
  return best ? MachineCode{unpacked(best), latest} : MachineCode{{}, 0};
}

}  // namespace tidemark
