#include "torch_extension.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "elf/elf_file.h"
#include "elf/mapped_file.h"
#include "elf/stand_ins.h"
#include "files.h"
#include "process.h"

namespace tidemark::cli {
namespace {

using std::filesystem::path;

constexpr const char* kReplay = "tidemark_replay";

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const path& parent) {
    std::string pattern = (parent / "compiling-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw Error(Errc::io, std::generic_category().message(errno), parent.string());
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const path& get() const { return path_; }

 private:
  path path_;
};

std::vector<path> files_with(const path& folder, std::initializer_list<const char*> extensions) {
  std::vector<path> found;
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, error);
       !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error))
    if (std::find(extensions.begin(), extensions.end(), entry->path().extension()) != extensions.end())
      found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string find_compiler(const Environment& environment) {
  std::vector<std::string> names;
  if (const auto chosen = environment.get("CXX"); chosen && !chosen->empty()) names.push_back(*chosen);
  names.insert(names.end(), {"g++", "clang++", "c++"});
  for (const std::string& name : names)
    if (const auto found = find_command(name, environment)) return found->string();
  throw Error(
      Errc::unsupported, "no C++ compiler was found", {},
      "install g++ 10 or later (Debian, Ubuntu: apt-get install g++) or set CXX; it is needed once per torch version");
}

std::vector<std::string> compile_flags(const TorchInstall& torch, const path& sources) {
  const path include = torch.folder / "include";
  return {"-std=c++20", "-O1", "-fPIC", "-w",
          fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", uses_cxx11_abi(torch.lib() / "libc10.so") ? 1 : 0),
          "-I" + sources.string(), "-isystem", include.string(), "-isystem",
          (include / "torch/csrc/api/include").string(),
          // Declarations that torch's CUDA headers ask for; NVIDIA's own headers are not needed.
          "-isystem", (sources / "cuda_headers").string()};
}

[[noreturn]] void compile_failed(const Finished& compiler, const path& file, const TorchInstall& torch) {
  throw Error(
      Errc::unsupported,
      fmt::format("the part for torch {} does not compile: {}", torch.version, first_error_line(compiler.errors)),
      file.filename().string(), "set CXX to another compiler (g++ 10 or later), or report this");
}

// What is linked from which folder of sources.
struct Product {
  const char* name;
  path sources;
  std::vector<std::string> link_flags;
};

std::vector<Product> products(const path& sources) {
  return {{kExtension, sources, {"-shared"}}, {kReplay, sources.parent_path() / "replay", {"-pie"}}};
}

std::vector<std::string> link_command(const std::string& compiler, const Product& product, const path& folder,
                                      const std::vector<path>& objects) {
  std::vector<std::string> command{compiler, "-o", (folder / product.name).string()};
  for (const path& object : objects) command.push_back(object.string());
  // Nothing of where torch lies gets in: the name that is linked is found among the stand-ins, and leads on from there.
  // The empty library of that name stays beside what is made, for those who check that every name can be found.
  command.insert(command.end(),
                 {"-s", "-Wl,--unresolved-symbols=ignore-all", "-Wl,--no-as-needed", "-Wl,--enable-new-dtags",
                  "-Wl,-rpath,$ORIGIN", (folder / elf::kTorchLibrary).string(), "-ldl"});
  command.insert(command.end(), product.link_flags.begin(), product.link_flags.end());
  return command;
}

// Compiles into `folder`: every file by itself, as many at a time as there are cores, then one link per product.
void compile(const TorchInstall& torch, const path& sources, const path& folder, const Environment& environment) {
  const std::string compiler = find_compiler(environment);
  const std::vector<std::string> flags = compile_flags(torch, sources);
  std::vector<path> files;
  std::vector<std::vector<std::string>> commands, links;
  for (const Product& product : products(sources)) {
    std::vector<path> objects;
    for (const path& file : files_with(product.sources, {".cpp"})) {
      files.push_back(file);
      objects.push_back(folder / fmt::format("{}.{}.o", product.name, file.stem().string()));
      commands.push_back({compiler, "-c", file.string(), "-o", objects.back().string()});
      commands.back().insert(commands.back().end(), flags.begin(), flags.end());
    }
    if (!objects.empty()) links.push_back(link_command(compiler, product, folder, objects));
  }
  const auto compiled = run_helpers(commands, std::max(1U, std::thread::hardware_concurrency()), environment);
  for (std::size_t i = 0; i < compiled.size(); ++i)
    if (compiled[i].exit_code != 0) compile_failed(compiled[i], files[i], torch);
  elf::write_torch_library_for_linking(folder);
  for (const auto& link : links)
    if (const Finished linked = run_helper(link, environment); linked.exit_code != 0)
      compile_failed(linked, link[2], torch);
  for (const path& object : files_with(folder, {".o"})) std::filesystem::remove(object);
}

}  // namespace

std::string first_error_line(const std::string& compiler_output) {
  std::istringstream stream(compiler_output);
  std::string first;
  for (std::string line; std::getline(stream, line);) {
    if (line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler said nothing" : first;
}

bool uses_cxx11_abi(const path& libc10) {
  const elf::MappedFile file(libc10);
  const elf::ElfFile symbols = elf::read_elf(file.bytes(), libc10.string());
  // c10::Error's constructors take a std::string, whose name has __cxx11 in it under the new ABI only.
  return std::any_of(symbols.symbols.begin(), symbols.symbols.end(), [](const elf::DynamicSymbol& symbol) {
    return symbol.defined && symbol.name.starts_with("_ZN3c105ErrorC") &&
           symbol.name.find("__cxx11") != std::string_view::npos;
  });
}

std::string extension_sources_hash(const path& sources) {
  Fingerprint fingerprint;
  for (const Product& product : products(sources))
    for (const path& file : files_with(product.sources, {".cpp", ".h"})) {
      fingerprint.add(file.filename().string());
      fingerprint.add(read_file(file));
    }
  return fingerprint.hex();
}

void compile_torch_extension(const TorchInstall& torch, const path& sources, const path& folder,
                             const Environment& environment) {
  const TemporaryFolder scratch(folder.parent_path());
  compile(torch, sources, scratch.get(), environment);
  std::error_code error;
  std::filesystem::rename(scratch.get(), folder, error);
  if (error && !std::filesystem::is_directory(folder)) throw Error(Errc::io, error.message(), folder.string());
}

path torch_extension(const TorchInstall& torch, const path& sources, const path& cache_folder,
                     const Environment& environment) {
  if (files_with(sources, {".cpp"}).empty()) return {};
  const path folder = cache_folder / ("extension-" + extension_sources_hash(sources));
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    fmt::print(stderr, "tidemark: preparing for torch {} (once)\n", torch.short_version());
    compile_torch_extension(torch, sources, folder, environment);
  }
  return folder / kExtension;
}

}  // namespace tidemark::cli
