// Where the real libcudnn lies.
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "card.h"
#include "cudnn_real.h"

namespace tidemark::cudnn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libcudnn_graph.so.9";

bool holds_library(const fs::path& folder) {
  std::error_code ignored;
  return !folder.empty() && fs::exists(folder / kLibrary, ignored);
}

/// `…/site-packages/nvidia/cudnn/lib`, where torch's own RPATH looks (`$ORIGIN/../../nvidia/cudnn/lib` of
/// libtorch_cuda.so).
fs::path beside_torch() {
  fs::path found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const fs::path library = info->dlpi_name;
        if (library.filename() != "libtorch_cuda.so") return 0;
        *static_cast<fs::path*>(out) = library.parent_path() / "../../nvidia/cudnn/lib";
        return 1;
      },
      &found);
  return found;
}

/// "9.8.0" as 90800, the way cudnnGetVersion counts since cuDNN 9; 0 if it is none.
long version_number(const std::string& text) {
  int major = 0, minor = 0, patch = 0;
  return std::sscanf(text.c_str(), "%d.%d.%d", &major, &minor, &patch) == 3 ? major * 10'000L + minor * 100 + patch : 0;
}

fs::path cache_root() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "tidemark/cudnn";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/tidemark/cudnn";
  return {};
}

/// Of the folders `cu12-9.8.0` (CUDA, cuDNN) in the cache the one nearest to the version that torch was built with:
/// that one, else the next above it, else the last below it.  Heuristics change from release to release.
fs::path in_cache() {
  const std::string prefix = "cu" + std::to_string(card().cuda_major) + "-";
  const long wanted = card().cudnn_version;
  fs::path above, below;
  long lowest_above = 0, highest_below = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cache_root(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !holds_library(entry.path())) continue;
    const long version = version_number(name.substr(prefix.size()));
    if (version >= wanted && (lowest_above == 0 || version < lowest_above))
      lowest_above = version, above = entry.path();
    if (version < wanted && version > highest_below) highest_below = version, below = entry.path();
  }
  return above.empty() ? below : above;
}

}  // namespace

std::string find_folder() {
  if (const char* chosen = std::getenv("TIDEMARK_CUDNN_DIR"); chosen && *chosen)
    return holds_library(chosen) ? chosen : "";
  if (const fs::path package = beside_torch(); holds_library(package)) return package.string();
  return in_cache().string();
}

}  // namespace tidemark::cudnn
