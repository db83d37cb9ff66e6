// What a kernel needs of a multiprocessor, read from its machine code (a "cubin": an ELF file with sections of NVIDIA's
// own).
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tidemark {

struct KernelResources {
  int registers = 0;  // of a thread
  int static_shared_bytes = 0;
  int local_bytes = 0;   // of a thread
  int launch_bound = 0;  // threads of a block that the kernel was compiled for; 0 where it says nothing
};

/// Of the kernel of that (mangled) name; nothing if `cubin` has no such kernel or is damaged.
std::optional<KernelResources> kernel_resources(std::span<const std::byte> cubin, std::string_view name);

/// What a multiprocessor has, and what one block may have of it.
struct MultiprocessorLimits {
  int registers_per_block, registers, shared_bytes, reserved_shared_bytes_per_block, threads, blocks;
};

/// cudaFuncAttributes::maxThreadsPerBlock: what the launch bound and the registers of one block leave.
int most_threads_per_block(const KernelResources& kernel, const MultiprocessorLimits& limits);

/// Blocks of that many threads, each with that much shared memory besides the kernel's own, that one multiprocessor
/// holds.
int resident_blocks(const KernelResources& kernel, const MultiprocessorLimits& limits, int threads_per_block,
                    int dynamic_shared_bytes);

/// Shared memory that each of so many blocks can have besides the kernel's own when all are on one multiprocessor.
int dynamic_shared_bytes_left(const KernelResources& kernel, const MultiprocessorLimits& limits, int blocks);

}  // namespace tidemark
