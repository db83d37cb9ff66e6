#include "shipped_extensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "files.h"
#include "torch_extension.h"

namespace tidemark::cli {
namespace {

using std::filesystem::path;

std::string name_for(const TorchInstall& torch, const path& sources) {
  const int abi = uses_cxx11_abi(torch.lib() / "libc10.so") ? 1 : 0;
  return fmt::format("{}-{}-abi{}-{}", torch.short_version(), torch.git.substr(0, 12), abi,
                     extension_sources_hash(sources));
}

std::string hash_of_content(const path& folder) {
  std::vector<path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Fingerprint fingerprint;
  for (const path& file : files) {
    fingerprint.add(file.filename().string());
    fingerprint.add(read_file(file));
  }
  return fingerprint.hex();
}

}  // namespace

path shipped_extension(const TorchInstall& torch, const path& sources, const path& shipped) {
  std::error_code error;
  if (torch.git.empty() || !std::filesystem::is_directory(shipped, error)) return {};
  const path entry = shipped / name_for(torch, sources);
  return std::filesystem::exists(entry, error) ? shipped / read_file(entry) : path();
}

void ship_extension(const TorchInstall& torch, const path& sources, const path& shipped,
                    const Environment& environment) {
  if (torch.git.empty())
    throw Error(Errc::unsupported, fmt::format("torch {} does not say its git revision", torch.version),
                (torch.folder / "version.py").string(), "what it is made for could not be told from another");
  std::filesystem::create_directories(shipped);
  const path fresh = shipped / ("new-" + name_for(torch, sources));
  const path made = compile_torch_extension(torch, sources, fresh, environment);
  if (const auto missing = missing_parts(made); !missing.empty()) {
    std::filesystem::remove_all(made);
    throw Error(Errc::unsupported, missing.front().why, missing.front().name);
  }
  const std::string folder = hash_of_content(fresh);
  std::error_code there_already;
  std::filesystem::rename(fresh, shipped / folder, there_already);
  if (there_already) std::filesystem::remove_all(fresh);
  write_file(shipped / name_for(torch, sources), folder);
}

path extension_for(const TorchInstall& torch, const Resources& resources, const path& cache_folder,
                   const Environment& environment, WhenIncomplete when_incomplete) {
  const path found = shipped_extension(torch, resources.torch_extension, resources.shipped_extensions);
  return found.empty() ? torch_extension(torch, resources.torch_extension, cache_folder, environment, when_incomplete)
                       : found;
}

}  // namespace tidemark::cli
