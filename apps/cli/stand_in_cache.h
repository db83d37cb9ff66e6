// The stand-ins for one installed torch, written once and kept in the user's cache.
#pragma once
#include <filesystem>

#include "environment.h"
#include "torch_probe.h"

namespace tidemark::cli {

/// $XDG_CACHE_HOME/tidemark, else ~/.cache/tidemark, else a folder of this user in /tmp.
std::filesystem::path cache_root(const Environment& environment);

/// The folder with libtidemark_gpu.so, libtidemark_stubs.so and the empty libraries; made when it is not there yet.
std::filesystem::path stand_in_folder(const TorchInstall& torch, const std::filesystem::path& gpu_library,
                                      const Environment& environment);

}  // namespace tidemark::cli
