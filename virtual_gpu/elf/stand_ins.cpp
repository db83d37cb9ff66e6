#include "elf/stand_ins.h"

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <unordered_set>

#include "base/error.h"
#include "elf/elf_stub.h"
#include "elf/mapped_file.h"
#include "elf/nvidia_names.h"

namespace tidemark::elf {
namespace {

// Opened by name at run time (c10, Triton, pynvml) or given to a linker (-lcuda), so no DT_NEEDED mentions them.
constexpr std::array<const char*, 4> kAlwaysLibraries{"libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1",
                                                      "libnvidia-ml.so"};

void write_file(const std::filesystem::path& path, const StubLibrary& library) {
  const std::vector<std::byte> bytes = write_stub_library(library);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw Error(Errc::io, "cannot write", path.string());
}

// Another package may ship a linker script or a broken file named .so; only torch itself must be readable.
bool is_required(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("libtorch") || name.starts_with("libc10");
}

using Symbols = std::unordered_set<std::string_view>;

Symbols definitions(std::span<const ElfFile> files) {
  Symbols defined;
  for (const ElfFile& file : files)
    for (const DynamicSymbol& symbol : file.symbols)
      if (symbol.defined && is_nvidia_function(symbol.name)) defined.insert(symbol.name);
  return defined;
}

// Sorted by name; not those that hold no library of a package's, or NVIDIA's.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool skipped = name == "nvidia" || name == "__pycache__" || name == "include" || name.ends_with(".dist-info");
    if (!skipped && entry.is_directory(error) && !entry.is_symlink(error)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void add_libraries_below(const std::filesystem::path& folder, std::vector<std::filesystem::path>& found) {
  const auto here = shared_libraries(folder);
  found.insert(found.end(), here.begin(), here.end());
  for (const auto& inner : folders_in(folder)) add_libraries_below(inner, found);
}

}  // namespace

StandIns plan_stand_ins(std::span<const Package<ElfFile>> packages, const ElfFile& gpu_library) {
  Symbols everywhere = definitions({&gpu_library, 1});
  if (!packages.empty()) everywhere.merge(definitions(packages.front()));
  StandIns result;
  for (const Package<ElfFile>& package : packages) {
    const Symbols here = definitions(package);
    for (const ElfFile& user : package) {
      for (const DynamicSymbol& symbol : user.symbols)
        if (!symbol.defined && is_nvidia_function(symbol.name) && !everywhere.contains(symbol.name) &&
            !here.contains(symbol.name))
          result.functions.emplace(symbol.name);
      for (std::string_view name : user.needed)
        if (is_nvidia_library(name)) result.libraries.emplace(name);
    }
  }
  result.libraries.insert(kAlwaysLibraries.begin(), kAlwaysLibraries.end());
  return result;
}

std::vector<std::filesystem::path> shared_libraries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool named_so = name.ends_with(".so") || name.find(".so.") != std::string::npos;
    if (named_so && entry.is_regular_file(error) && !is_nvidia_library(name_before_vendoring(name)))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Package<std::filesystem::path>> libraries_of_environment(const std::filesystem::path& torch_lib,
                                                                     const std::filesystem::path& site_packages) {
  std::vector<Package<std::filesystem::path>> packages{shared_libraries(torch_lib)};
  // Extension modules at the top, such as flash_attn_2_cuda.
  if (auto modules = shared_libraries(site_packages); !modules.empty()) packages.push_back(std::move(modules));
  for (const auto& folder : folders_in(site_packages)) {
    if (folder.filename() == torch_lib.parent_path().filename()) continue;
    Package<std::filesystem::path> package;
    add_libraries_below(folder, package);
    if (!package.empty()) packages.push_back(std::move(package));
  }
  return packages;
}

void write_torch_libraries(const std::filesystem::path& torch_lib, const std::filesystem::path& folder) {
  StubLibrary library;
  library.runpath = torch_lib.string();
  library.soname = kTorchCoreLibrary;
  library.needed = {"libc10.so", "libc10_cuda.so"};
  write_file(folder / kTorchCoreLibrary, library);
  library.soname = kTorchLibrary;
  library.needed.insert(library.needed.end(), {"libtorch_cpu.so", "libtorch_cuda.so"});
  write_file(folder / kTorchLibrary, library);
}

void write_library_for_linking(const std::string& name, const std::filesystem::path& folder) {
  StubLibrary library;
  library.soname = name;
  write_file(folder / name, library);
}

StandIns write_stand_ins(std::span<const Package<std::filesystem::path>> packages,
                         const std::filesystem::path& gpu_library, const std::filesystem::path& folder) {
  std::deque<MappedFile> mapped;  // which the views of the files look into
  std::vector<Package<ElfFile>> files;
  for (const auto& package : packages) {
    files.emplace_back();
    for (const auto& path : package) {
      try {
        files.back().push_back(read_elf(mapped.emplace_back(path).bytes(), path.string()));
      } catch (const Error&) {
        if (is_required(path)) throw;
      }
    }
  }
  const ElfFile gpu = read_elf(mapped.emplace_back(gpu_library).bytes(), gpu_library.string());
  const StandIns plan = plan_stand_ins(files, gpu);

  StubLibrary stubs;
  stubs.soname = kStubLibrary;
  stubs.functions.assign(plan.functions.begin(), plan.functions.end());
  write_file(folder / kStubLibrary, stubs);
  std::filesystem::create_symlink(std::filesystem::absolute(gpu_library), folder / kGpuLibrary);
  for (const std::string& name : plan.libraries) {
    StubLibrary empty;
    empty.soname = name;
    empty.needed = {kGpuLibrary, kStubLibrary};
    empty.runpath = "$ORIGIN";
    write_file(folder / name, empty);
  }
  return plan;
}

}  // namespace tidemark::elf
