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
  return fmt::format("{}-{}-abi{}-{}", torch.short_version(), torch.git.substr(0, 12), abi, extension_hash(sources));
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
  if (!shipped_extension(torch, sources, shipped).empty()) return;
  const std::string name = name_for(torch, sources);
  const path scratch = shipped / ("compiling-" + name);
  std::filesystem::create_directories(scratch);
  const path made = torch_extension(torch, sources, scratch, environment, WhenIncomplete::try_again);
  const auto missing = missing_parts(made);
  const std::string folder = hash_of_content(made);
  std::error_code there_already;
  if (missing.empty()) std::filesystem::rename(made, shipped / folder, there_already);
  std::filesystem::remove_all(scratch);
  if (!missing.empty())
    throw Error(Errc::unsupported, fmt::format("for torch {}: {}", torch.version, missing.front().why),
                missing.front().name);
  write_file(shipped / name, folder);
}

path extension_for(const TorchInstall& torch, const Resources& resources, const path& cache_folder,
                   const Environment& environment, WhenIncomplete when_incomplete) {
  const path shipped = environment.get("TIDEMARK_EXTENSIONS").value_or(resources.shipped_extensions.string());
  const path found = shipped_extension(torch, resources.torch_extension, shipped);
  if (!found.empty()) return found;
  return torch_extension(torch, resources.torch_extension, cache_folder, environment, when_incomplete);
}

}  // namespace tidemark::cli
