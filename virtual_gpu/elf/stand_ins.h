// The folder of libraries that the loader finds instead of NVIDIA's: one empty library per name that torch asks for,
// and one library of functions that only return success, for what libtidemark_gpu.so does not define itself.
#pragma once
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "elf/elf_file.h"

namespace tidemark::elf {

inline constexpr const char* kGpuLibrary = "libtidemark_gpu.so";
inline constexpr const char* kStubLibrary = "libtidemark_stubs.so";
/// What code that uses torch's C++ interface is linked with, wherever torch lies: all of it, or what libc10_cuda.so
/// needs.
inline constexpr const char* kTorchLibrary = "libtidemark_torch.so";
inline constexpr const char* kTorchCoreLibrary = "libtidemark_torch_core.so";

struct StandIns {
  std::set<std::string> functions;  // exported by libtidemark_stubs.so
  std::set<std::string> libraries;  // the empty ones
};

/// `users` are torch's libraries and extension modules; what one of them defines, another may use.
StandIns plan_stand_ins(std::span<const ElfFile> users, const ElfFile& gpu_library);

/// Every shared library directly inside `folder`, sorted by name.
std::vector<std::filesystem::path> shared_libraries(const std::filesystem::path& folder);

/// Writes these two, which are empty and name the libraries of torch in `torch_lib`.
void write_torch_libraries(const std::filesystem::path& torch_lib, const std::filesystem::path& folder);

/// One of them to link with, where torch's own are not known: it names none.
void write_library_for_linking(const std::string& name, const std::filesystem::path& folder);

/// Reads `users` and `gpu_library` and writes the stand-ins into `folder`, which must exist.
StandIns write_stand_ins(std::span<const std::filesystem::path> users, const std::filesystem::path& gpu_library,
                         const std::filesystem::path& folder);

}  // namespace tidemark::elf
