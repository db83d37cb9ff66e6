// The part of Tidemark that uses torch's C++ interface: compiled once for each torch, with its own headers.
#pragma once
#include <filesystem>
#include <vector>

#include "environment.h"
#include "torch_probe.h"

namespace tidemark::cli {

/// The library that is made from one folder of sources.  Each is made apart, so that what an unknown torch breaks costs
/// one of them. None holds anything of where torch lies: it serves every build of the same torch, wherever it is
/// installed.
struct ExtensionPart {
  std::string name;  // of its folder
  std::string file;  // what is made of it
  std::filesystem::path sources;
  std::string without;        // what a run does when it is not there: its folder's without.txt
  const char* torch_library;  // elf/stand_ins.h: what it is linked with
};

/// Every folder in `sources` that has a without.txt, and the folder `replay` next to `sources`.
std::vector<ExtensionPart> extension_parts(const std::filesystem::path& sources);

/// Changes when any of the sources does.
std::string extension_hash(const std::filesystem::path& sources);

enum class WhenIncomplete { take_it, try_again };

/// The folder of the compiled parts, below `cache_folder`; compiled now when it is not there yet, with one line on
/// stderr.  Beside each part lies a file `NAME.without`: what a run does without it and, in a second line, why it is
/// not there, if it is not. An empty path when `sources` holds no part.
std::filesystem::path torch_extension(const TorchInstall& torch, const std::filesystem::path& sources,
                                      const std::filesystem::path& cache_folder, const Environment& environment,
                                      WhenIncomplete when_incomplete = WhenIncomplete::take_it);

struct MissingPart {
  std::string name, without, why;
};
std::vector<MissingPart> missing_parts(const std::filesystem::path& extension);
/// For stderr: a sentence for each reason, with what it costs; "" when nothing is missing.
std::string missing_text(const std::vector<MissingPart>& missing, const std::string& torch);

/// Whether torch was compiled with the std::string of the C++11 ABI: seen in what libc10.so exports.
bool uses_cxx11_abi(const std::filesystem::path& libc10);

/// The first line of a compiler's output that says what is wrong.
std::string first_error_line(const std::string& compiler_output);

}  // namespace tidemark::cli
