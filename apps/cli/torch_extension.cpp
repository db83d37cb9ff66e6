#include "torch_extension.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "cuda_names.h"
#include "elf/elf_file.h"
#include "elf/mapped_file.h"
#include "elf/stand_ins.h"
#include "files.h"
#include "process.h"

namespace tidemark::cli {
namespace {

using std::filesystem::path;

constexpr const char* kWithout = "without.txt";  // in each folder of sources: what a run does without it, one sentence

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

/// Held by whoever compiles, so that others who start meanwhile wait for it and do not compile the same beside it.
/// Where the file cannot be locked nobody waits: what is made is then made twice, and the same.
class CompilingAlone {
 public:
  explicit CompilingAlone(const path& file) : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    fmt::print(stderr, "tidemark: waiting for another run that prepares (once)\n");
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) continue;
  }
  ~CompilingAlone() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  CompilingAlone(const CompilingAlone&) = delete;
  CompilingAlone& operator=(const CompilingAlone&) = delete;

 private:
  int descriptor_;
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

/// Empty when there is none.
std::string find_compiler(const Environment& environment) {
  std::vector<std::string> names;
  if (const auto chosen = environment.get("CXX"); chosen && !chosen->empty()) names.push_back(*chosen);
  names.insert(names.end(), {"g++", "clang++", "c++"});
  for (const std::string& name : names)
    if (const auto found = find_command(name, environment)) return found->string();
  return {};
}

std::vector<std::string> compile_flags(const TorchInstall& torch, const path& sources, const path& folder) {
  const path include = torch.folder / "include";
  return {"-std=c++20", "-O1", "-fPIC", "-w",
          fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", uses_cxx11_abi(torch.lib() / "libc10.so") ? 1 : 0), "-isystem",
          include.string(), "-isystem", (include / "torch/csrc/api/include").string(),
          // Declarations that torch's CUDA headers ask for; NVIDIA's own headers are not needed.
          "-isystem", (sources / "cuda_headers").string(), "-isystem", folder.string()};
}

/// Those of CUDA's names in this torch's headers that cuda_headers/ does not declare.
void write_cuda_names(const TorchInstall& torch, const path& sources, const path& folder) {
  std::vector<std::string> headers;
  for (const path& file : files_with(torch.folder / "include/c10/cuda", {".h"})) headers.push_back(read_file(file));
  write_file(folder / "tidemark_cuda_names.h",
             declare_cuda_names(headers, read_file(sources / "cuda_headers/cuda_runtime_api.h")));
}

// The name that is linked is found among the stand-ins, and leads on to torch's libraries from there.  The empty
// library of that name stays beside the part, for those who check that every name can be found (auditwheel).
std::vector<std::string> link_command(const std::string& compiler, const ExtensionPart& part, const path& folder) {
  elf::write_library_for_linking(part.torch_library, folder);
  return {compiler,
          "-shared",
          "-s",
          "-o",
          (folder / part.file).string(),
          (folder / (part.name + ".o")).string(),
          "-Wl,--unresolved-symbols=ignore-all",
          "-Wl,--no-as-needed",
          "-Wl,--enable-new-dtags",
          "-Wl,-rpath,$ORIGIN",
          (folder / part.torch_library).string(),
          "-ldl"};
}

/// All of a part as one translation unit: torch's headers take a compiler far longer than what stands behind them.
path write_unit(const ExtensionPart& part, const path& folder) {
  std::string includes;
  for (const path& file : files_with(part.sources, {".cpp"}))
    includes += fmt::format("#include \"{}\"\n", file.string());
  const path unit = folder / (part.name + ".cpp");
  write_file(unit, includes);
  return unit;
}

// Compiles into `folder`: every part by itself, as many at a time as there are cores.  Returns why a part is not there,
// "" where it is.
std::vector<std::string> compile(const TorchInstall& torch, const path& sources,
                                 const std::vector<ExtensionPart>& parts, const path& folder,
                                 const std::string& compiler, const Environment& environment) {
  write_cuda_names(torch, sources, folder);
  const std::vector<std::string> flags = compile_flags(torch, sources, folder);
  std::vector<std::vector<std::string>> commands;
  for (const ExtensionPart& part : parts) {
    commands.push_back(
        {compiler, "-c", write_unit(part, folder).string(), "-o", (folder / (part.name + ".o")).string()});
    commands.back().insert(commands.back().end(), flags.begin(), flags.end());
  }
  const auto compiled = run_helpers(commands, std::max(1U, std::thread::hardware_concurrency()), environment);
  std::vector<std::string> failures(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (compiled[i].exit_code != 0) {
      failures[i] = fmt::format("{} does not compile: {}", parts[i].name, first_error_line(compiled[i].errors));
      continue;
    }
    const Finished linked = run_helper(link_command(compiler, parts[i], folder), environment);
    if (linked.exit_code != 0)
      failures[i] = fmt::format("{} does not link: {}", parts[i].name, first_error_line(linked.errors));
  }
  // The header stays, for what else is compiled against this torch (tools/trace/record_allocator.py).
  for (const path& made : files_with(folder, {".cpp", ".o"})) std::filesystem::remove(made);
  return failures;
}

constexpr const char* kNoCompiler =
    "no C++ compiler was found (install g++ 10 or later, or set CXX; it is needed once per torch version)";

/// Writes `NAME.without` for every part: what a run does without it and, if it is not there, why.  Whether one is not.
bool write_what_is_missing(const std::vector<ExtensionPart>& parts, const std::vector<std::string>& failures,
                           const path& folder) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string why = failures[i].empty() ? "" : failures[i] + "\n";
    write_file(folder / (parts[i].name + ".without"), parts[i].without + "\n" + why);
  }
  return std::any_of(failures.begin(), failures.end(), [](const std::string& failure) { return !failure.empty(); });
}

// What was made without some part is kept for as long as the compiler is the same one.
path incomplete_folder(const path& complete, const std::string& compiler) {
  Fingerprint fingerprint;
  if (!compiler.empty()) fingerprint.add_file(compiler);
  return complete.string() + "-" + fingerprint.hex();
}

path make(const TorchInstall& torch, const path& sources, const std::vector<ExtensionPart>& parts, const path& complete,
          const Environment& environment) {
  fmt::print(stderr, "tidemark: preparing for torch {} (once)\n", torch.short_version());
  const std::string compiler = find_compiler(environment);
  const TemporaryFolder scratch(complete.parent_path());
  const auto failures = compiler.empty() ? std::vector<std::string>(parts.size(), kNoCompiler)
                                         : compile(torch, sources, parts, scratch.get(), compiler, environment);
  const bool lacks = write_what_is_missing(parts, failures, scratch.get());
  const path folder = lacks ? incomplete_folder(complete, compiler) : complete;
  std::error_code error;
  if (lacks) std::filesystem::remove_all(folder, error);
  std::filesystem::rename(scratch.get(), folder, error);
  if (error && !std::filesystem::is_directory(folder)) throw Error(Errc::io, error.message(), folder.string());
  return folder;
}

std::vector<path> part_folders(const path& sources) {
  std::vector<path> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(sources, error))
    if (std::filesystem::exists(entry.path() / kWithout)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

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

std::vector<ExtensionPart> extension_parts(const path& sources) {
  std::vector<ExtensionPart> parts;
  for (const path& folder : part_folders(sources))
    parts.push_back({folder.filename().string(), folder.filename().string() + ".so", folder,
                     first_line(read_file(folder / kWithout)), elf::kTorchLibrary});
  const path replay = sources.parent_path() / "replay";
  if (std::filesystem::exists(replay / kWithout))
    parts.push_back({"replay", "replay.so", replay, first_line(read_file(replay / kWithout)), elf::kTorchCoreLibrary});
  return parts;
}

std::string extension_hash(const path& sources) {
  Fingerprint fingerprint;
  for (const ExtensionPart& part : extension_parts(sources))
    for (const path& file : files_with(part.sources, {".cpp", ".h", ".txt"})) {
      fingerprint.add(file.filename().string());
      fingerprint.add(read_file(file));
    }
  for (const path& file : files_with(sources / "cuda_headers", {".h"})) fingerprint.add(read_file(file));
  return fingerprint.hex();
}

path torch_extension(const TorchInstall& torch, const path& sources, const path& cache_folder,
                     const Environment& environment, WhenIncomplete when_incomplete) {
  const auto parts = extension_parts(sources);
  if (parts.empty()) return {};
  const path complete = cache_folder / ("extension-" + extension_hash(sources));
  const path incomplete = incomplete_folder(complete, find_compiler(environment));
  const auto made = [&]() -> std::optional<path> {
    if (std::filesystem::is_directory(complete)) return complete;
    if (when_incomplete == WhenIncomplete::take_it && std::filesystem::is_directory(incomplete)) return incomplete;
    return std::nullopt;
  };
  if (const auto there = made()) return *there;
  const CompilingAlone alone(cache_folder / "compiling.lock");
  if (const auto there = made()) return *there;  // by the one that was waited for
  return make(torch, sources, parts, complete, environment);
}

std::vector<MissingPart> missing_parts(const path& extension) {
  std::vector<MissingPart> missing;
  for (const path& file : files_with(extension, {".without"})) {
    const std::string text = read_file(file);
    const std::string why = first_line(text.substr(std::min(text.find('\n'), text.size() - 1) + 1));
    if (!why.empty()) missing.push_back({file.stem().string(), first_line(text), why});
  }
  return missing;
}

std::string missing_text(const std::vector<MissingPart>& missing, const std::string& torch) {
  std::string text;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const bool goes_on = i > 0 && missing[i].why == missing[i - 1].why;
    text += goes_on ? "; " : fmt::format("{}tidemark: for torch {}, {}: ", i ? "\n" : "", torch, missing[i].why);
    text += missing[i].without;
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace tidemark::cli
