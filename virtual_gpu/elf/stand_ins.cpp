#include "elf/stand_ins.h"

#include <algorithm>
#include <array>
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

}  // namespace

StandIns plan_stand_ins(std::span<const ElfFile> users, const ElfFile& gpu_library) {
  std::unordered_set<std::string_view> defined;
  for (const DynamicSymbol& symbol : gpu_library.symbols)
    if (symbol.defined) defined.insert(symbol.name);
  for (const ElfFile& user : users)
    for (const DynamicSymbol& symbol : user.symbols)
      if (symbol.defined && is_nvidia_function(symbol.name)) defined.insert(symbol.name);

  StandIns result;
  for (const ElfFile& user : users) {
    for (const DynamicSymbol& symbol : user.symbols)
      if (!symbol.defined && is_nvidia_function(symbol.name) && !defined.contains(symbol.name))
        result.functions.emplace(symbol.name);
    for (std::string_view name : user.needed)
      if (is_nvidia_library(name)) result.libraries.emplace(name);
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
    if (named_so && entry.is_regular_file(error)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
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

StandIns write_stand_ins(std::span<const std::filesystem::path> users, const std::filesystem::path& gpu_library,
                         const std::filesystem::path& folder) {
  std::vector<MappedFile> mapped;
  mapped.reserve(users.size() + 1);
  std::vector<ElfFile> files;
  for (const auto& path : users) {
    try {
      files.push_back(read_elf(mapped.emplace_back(path).bytes(), path.string()));
    } catch (const Error&) {
      if (is_required(path)) throw;
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
