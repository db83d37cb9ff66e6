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

/// The libraries of one package of the environment, or of a folder of it.
template <class Library>
using Package = std::vector<Library>;

/// Torch's libraries come first.  A function that they define, or that a library of the same package defines, needs no
/// stand-in there.
StandIns plan_stand_ins(std::span<const Package<ElfFile>> packages, const ElfFile& gpu_library);

/// Every shared library directly inside `folder`, sorted by name.
std::vector<std::filesystem::path> shared_libraries(const std::filesystem::path& folder);

/// Torch's libraries in `torch_lib`, then those of each package in `site_packages`, sorted by name.  NVIDIA's own
/// libraries, also copies of them in other packages, are left out.
std::vector<Package<std::filesystem::path>> libraries_of_environment(const std::filesystem::path& torch_lib,
                                                                     const std::filesystem::path& site_packages);

/// Writes these two, which are empty and name the libraries of torch in `torch_lib`.
void write_torch_libraries(const std::filesystem::path& torch_lib, const std::filesystem::path& folder);

/// One of them to link with, where torch's own are not known: it names none.
void write_library_for_linking(const std::string& name, const std::filesystem::path& folder);

/// Reads the libraries and writes the stand-ins into `folder`, which must exist.
StandIns write_stand_ins(std::span<const Package<std::filesystem::path>> packages,
                         const std::filesystem::path& gpu_library, const std::filesystem::path& folder);

}  // namespace tidemark::elf
