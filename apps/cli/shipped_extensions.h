// Extensions that were compiled before they are needed and lie beside Tidemark: for a torch that one of them was made
// for, no compiler is called.
//
// The folder has one small file for each torch, named by what decides the extension (torch's version and git revision,
// the ABI of its std::string, our sources); it holds the name of the folder with the binaries, which torches share
// when the compiler made the same bytes for them.
#pragma once
#include <filesystem>

#include "environment.h"
#include "resources.h"
#include "torch_extension.h"

namespace tidemark::cli {

/// The folder of the extension for this torch: the shipped one, else compiled (torch_extension.h).
std::filesystem::path extension_for(const TorchInstall& torch, const Resources& resources,
                                    const std::filesystem::path& cache_folder, const Environment& environment,
                                    WhenIncomplete when_incomplete = WhenIncomplete::take_it);

/// The folder of the shipped one; an empty path when there is none for this torch.
std::filesystem::path shipped_extension(const TorchInstall& torch, const std::filesystem::path& sources,
                                        const std::filesystem::path& shipped);

/// Compiles the one for this torch into `shipped`, unless it is there.  Throws Error{unsupported} when a part of it
/// cannot be made, or when torch does not say its revision.
void ship_extension(const TorchInstall& torch, const std::filesystem::path& sources,
                    const std::filesystem::path& shipped, const Environment& environment);

}  // namespace tidemark::cli
