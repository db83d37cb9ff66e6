#include "machine_code.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tidemark {
namespace {

// Records of `.nv.info` sections, as `cuobjdump -elf` names them; numbers and layouts as CuAssembler has them
// (cloudcores/CuAssembler, CuAsm/CuNVInfo.py): a format, an attribute, then two bytes that are the value or, for a
// sized value, its length.
constexpr std::uint8_t kSizedValue = 4;                              // EIFMT_SVAL
constexpr std::uint8_t kMaxThreads = 0x05, kRequiredThreads = 0x10;  // EIATTR_MAX_THREADS, EIATTR_REQNTID
constexpr std::uint8_t kFrameSize = 0x11, kRegisterCount = 0x2f;     // EIATTR_FRAME_SIZE, EIATTR_REGCOUNT

// CUDA C++ Programming Guide, technical specifications, and the units of NVIDIA's occupancy calculator for 7.0 and
// later: registers go to warps in units of 256, that is 8 a thread; the warps of a block are dealt out to four
// partitions; shared memory comes in units of 128 bytes.
constexpr int kThreadsPerBlock = 1024, kWarp = 32, kRegisterUnit = 8, kPartitions = 4, kSharedUnit = 128;

class Cubin {
 public:
  explicit Cubin(std::span<const std::byte> file) : file_(file) {
    Elf64_Ehdr header{};
    if (!read(0, header)) return;
    for (std::uint16_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section{};
      if (!read(header.e_shoff + std::uint64_t{i} * header.e_shentsize, section)) {
        sections_.clear();
        return;
      }
      sections_.push_back(section);
    }
    if (header.e_shstrndx < sections_.size()) names_ = sections_[header.e_shstrndx].sh_offset;
  }

  const Elf64_Shdr* section(const std::string& name) const {
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const Elf64_Shdr& s) { return text(names_ + s.sh_name) == name; });
    return found == sections_.end() ? nullptr : &*found;
  }

  /// The name of a symbol of the table that an information section is linked with.
  std::string_view symbol_name(const Elf64_Shdr& user, std::uint32_t index) const {
    if (user.sh_link >= sections_.size()) return {};
    const Elf64_Shdr& table = sections_[user.sh_link];
    Elf64_Sym symbol{};
    if (table.sh_link >= sections_.size() || !read(table.sh_offset + std::uint64_t{index} * sizeof symbol, symbol))
      return {};
    return text(sections_[table.sh_link].sh_offset + symbol.st_name);
  }

  /// Calls `visit(attribute, words)` for every record with a sized value.
  template <class Visit>
  void for_each_record(const Elf64_Shdr& section, Visit visit) const {
    const std::uint64_t end = section.sh_offset + section.sh_size;
    for (std::uint64_t at = section.sh_offset; at + 4 <= end;) {
      struct {
        std::uint8_t format, attribute;
        std::uint16_t value;
      } record{};
      if (!read(at, record)) return;
      at += sizeof record;
      if (record.format != kSizedValue) continue;
      std::vector<std::uint32_t> words(record.value / 4U);
      for (std::size_t i = 0; i < words.size(); ++i)
        if (!read(at + 4 * i, words[i])) return;
      visit(record.attribute, words);
      at += record.value;
    }
  }

 private:
  template <class T>
  bool read(std::uint64_t offset, T& value) const {
    if (offset > file_.size() || file_.size() - offset < sizeof value) return false;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return true;
  }
  std::string_view text(std::uint64_t offset) const {
    if (offset >= file_.size()) return {};
    const char* start = reinterpret_cast<const char*>(file_.data()) + offset;
    return {start, strnlen(start, file_.size() - offset)};
  }

  std::span<const std::byte> file_;
  std::vector<Elf64_Shdr> sections_;
  std::uint64_t names_ = 0;
};

int registers_of_a_warp(const KernelResources& kernel) {
  return (kernel.registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit * kWarp;
}

int product(const std::vector<std::uint32_t>& dimensions) {
  std::uint32_t result = 1;
  for (const std::uint32_t dimension : dimensions) result *= std::max(dimension, 1U);
  return static_cast<int>(result);
}

}  // namespace

std::optional<KernelResources> kernel_resources(std::span<const std::byte> cubin, std::string_view name) {
  const Cubin file(cubin);
  const std::string kernel(name);
  const Elf64_Shdr* of_all = file.section(".nv.info");
  if (!of_all || !file.section(".text." + kernel)) return std::nullopt;
  KernelResources result;
  file.for_each_record(*of_all, [&](std::uint8_t attribute, const std::vector<std::uint32_t>& words) {
    if (words.size() < 2 || file.symbol_name(*of_all, words[0]) != name) return;
    if (attribute == kRegisterCount) result.registers = static_cast<int>(words[1]);
    if (attribute == kFrameSize) result.local_bytes = static_cast<int>(words[1]);
  });
  if (const Elf64_Shdr* shared = file.section(".nv.shared." + kernel))
    result.static_shared_bytes = static_cast<int>(shared->sh_size);
  if (const Elf64_Shdr* own = file.section(".nv.info." + kernel))
    file.for_each_record(*own, [&](std::uint8_t attribute, const std::vector<std::uint32_t>& words) {
      if (attribute == kMaxThreads || attribute == kRequiredThreads) result.launch_bound = product(words);
    });
  return result;
}

int most_threads_per_block(const KernelResources& kernel, const MultiprocessorLimits& limits) {
  const int bound = kernel.launch_bound > 0 ? std::min(kernel.launch_bound, kThreadsPerBlock) : kThreadsPerBlock;
  if (kernel.registers <= 0) return bound;
  return std::min(bound, limits.registers_per_block / registers_of_a_warp(kernel) / kPartitions * kPartitions * kWarp);
}

int resident_blocks(const KernelResources& kernel, const MultiprocessorLimits& limits, int threads_per_block,
                    int dynamic_shared_bytes) {
  if (threads_per_block <= 0 || threads_per_block > most_threads_per_block(kernel, limits)) return 0;
  const int warps = (threads_per_block + kWarp - 1) / kWarp;
  int blocks = std::min(limits.blocks, limits.threads / (warps * kWarp));
  if (kernel.registers > 0) {
    const int warps_of_a_partition = limits.registers / kPartitions / registers_of_a_warp(kernel);
    blocks = std::min(blocks, warps_of_a_partition * kPartitions / warps);
  }
  const int shared = kernel.static_shared_bytes + dynamic_shared_bytes + limits.reserved_shared_bytes_per_block;
  const int rounded = (shared + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  return rounded > 0 ? std::min(blocks, limits.shared_bytes / rounded) : blocks;
}

int dynamic_shared_bytes_left(const KernelResources& kernel, const MultiprocessorLimits& limits, int blocks) {
  const int of_a_block = limits.shared_bytes / blocks / kSharedUnit * kSharedUnit;
  return std::max(of_a_block - limits.reserved_shared_bytes_per_block - kernel.static_shared_bytes, 0);
}

}  // namespace tidemark
