// What a fat binary holds: machine code for some architectures, PTX for others.  The runtime picks one for the card,
// and CUB chooses a kernel's tuning, and with it its scratch memory, by the architecture of what was picked.
#pragma once
#include <cstddef>
#include <vector>

namespace tidemark {

/// Remembers the image that `__cudaRegisterFatBinary` was given; returns the handle that it hands out.
void** remember_fat_binary(const void* wrapper);
void remember_kernel(void** fat_binary, const void* host_function);

struct KernelImage {
  int ptx_version, binary_version;
};  // 86 for sm_86

/// The image that the card runs for this kernel: its own major version's latest not above its own, otherwise the latest
/// PTX. For a kernel that was never registered, the card's own version; {0, 0} for one that was built for later cards
/// alone.
KernelImage image_for_card(const void* host_function);

struct MachineCode {
  std::vector<std::byte> cubin;  // an ELF file
  int architecture;
};

/// What the card runs of `data`, which is what cuModuleLoadData and cuLibraryLoadData take: a fat binary, with or
/// without its wrapper, or an ELF file.  Empty where there is nothing for the card, where it is PTX, or where it cannot
/// be unpacked.
MachineCode machine_code_for_card(const void* data);

}  // namespace tidemark
