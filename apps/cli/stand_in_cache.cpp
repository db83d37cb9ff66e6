#include "stand_in_cache.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "elf/stand_ins.h"
#include "files.h"

namespace tidemark::cli {
namespace {

// Part of the name, so that a newer Tidemark with other stand-ins does not take an older one's.
constexpr int kStandInFormat = 3;

std::filesystem::path make_temporary_folder(const std::filesystem::path& root) {
  std::string pattern = (root / "making-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw Error(Errc::io, std::generic_category().message(errno), root.string());
  return pattern;
}

}  // namespace

std::filesystem::path cache_root(const Environment& environment) {
  const auto given = [&](const char* name) { return environment.get(name).value_or(""); };
  if (given("XDG_CACHE_HOME").starts_with('/')) return std::filesystem::path(given("XDG_CACHE_HOME")) / "tidemark";
  if (given("HOME").starts_with('/')) return std::filesystem::path(given("HOME")) / ".cache" / "tidemark";
  return fmt::format("/tmp/tidemark-cache-{}", ::getuid());
}

std::filesystem::path stand_in_folder(const TorchInstall& torch, const std::filesystem::path& gpu_library,
                                      const Environment& environment) {
  std::error_code error;
  if (!std::filesystem::exists(gpu_library, error))
    throw Error(Errc::not_found, "Tidemark's own library is missing; it was built or installed without it",
                gpu_library.empty() ? elf::kGpuLibrary : gpu_library.string());
  const auto packages = elf::libraries_of_environment(torch.lib(), torch.folder.parent_path());
  Fingerprint fingerprint;
  fingerprint.add(fmt::format("stand-ins {}", kStandInFormat));
  for (const auto& package : packages)
    for (const auto& path : package) fingerprint.add_file(path);
  fingerprint.add_file(gpu_library);
  const auto root = cache_root(environment);
  const auto folder = root / fmt::format("{}-{}", torch.version, fingerprint.hex());
  if (std::filesystem::is_directory(folder, error)) return folder;

  std::filesystem::create_directories(root, error);
  if (error) throw Error(Errc::io, "cannot make the cache folder: " + error.message(), root.string());
  const auto temporary = make_temporary_folder(root);
  try {
    elf::write_stand_ins(packages, gpu_library, temporary);
    elf::write_torch_libraries(torch.lib(), temporary);
  } catch (...) {
    std::filesystem::remove_all(temporary, error);
    throw;
  }
  std::filesystem::rename(temporary, folder, error);
  if (error) std::filesystem::remove_all(temporary);  // another run was first, and wrote the same
  return folder;
}

}  // namespace tidemark::cli
