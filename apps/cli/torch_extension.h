// The part of Tidemark that uses torch's C++ interface: compiled once for each torch, with its own headers.
#pragma once
#include <filesystem>
#include <string>

#include "environment.h"
#include "torch_probe.h"

namespace tidemark::cli {

inline constexpr const char* kExtension = "torch_extension.so";

/// The compiled extension, below `cache_folder`; compiled now when it is not there yet, with one line on stderr.
/// Beside it lies tidemark_replay, made from the folder `replay` next to `sources`.
/// An empty path when `sources` holds no C++ files.
/// Throws Error{unsupported} without a compiler, Error{bad_file} with the compiler's first error.
std::filesystem::path torch_extension(const TorchInstall& torch, const std::filesystem::path& sources,
                                      const std::filesystem::path& cache_folder, const Environment& environment);

/// Compiles all of it into `folder`, which appears when it is whole.  What is made holds nothing of where torch lies.
void compile_torch_extension(const TorchInstall& torch, const std::filesystem::path& sources,
                             const std::filesystem::path& folder, const Environment& environment);

/// Changes when any of the sources does.
std::string extension_sources_hash(const std::filesystem::path& sources);

/// Whether torch was compiled with the std::string of the C++11 ABI: seen in what libc10.so exports.
bool uses_cxx11_abi(const std::filesystem::path& libc10);

/// The first line of a compiler's output that says what is wrong.
std::string first_error_line(const std::string& compiler_output);

}  // namespace tidemark::cli
