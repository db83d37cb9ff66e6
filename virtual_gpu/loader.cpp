// libdl: a real libcudart or libnccl that is opened by its path is replaced by the stand-in of that name
// (vllm: distributed/device_communicators/cuda_wrapper.py, CudaRTLibrary, 0.33.0).
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string>

namespace {

constexpr std::array<const char*, 2> kRedirected{"libcudart", "libnccl"};

/// The folder of the stand-ins, which this library was preloaded from, with a slash; "" where it was not.
const std::string& own_folder() {
  static const std::string folder = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&own_folder), &info);
    const char* slash = info.dli_fname ? std::strrchr(info.dli_fname, '/') : nullptr;
    return slash ? std::string(info.dli_fname, slash + 1) : std::string();
  }();
  return folder;
}

/// "libcudart.faf08d9a.so.13" is "libcudart.so.13", copied into a wheel (elf/nvidia_names.h, name_before_vendoring).
std::string without_hash(const std::string& name, const std::string& stem) {
  const std::size_t extension = name.find(".so");
  if (extension == std::string::npos) return {};
  const std::string between = name.substr(stem.size(), extension - stem.size());
  const bool is_hash =
      between.size() == 9 && (between[0] == '.' || between[0] == '-') &&
      std::all_of(between.begin() + 1, between.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  return between.empty() || is_hash ? stem + name.substr(extension) : std::string();
}

/// The stand-in for `path`, valid until this thread asks again; `path` itself where there is none.
const char* redirected(const char* path) {
  const char* slash = path ? std::strrchr(path, '/') : nullptr;
  if (!slash || own_folder().empty() || own_folder() == std::string(path, slash + 1)) return path;
  for (const char* stem : kRedirected) {
    if (std::strncmp(slash + 1, stem, std::strlen(stem)) != 0) continue;
    const std::string name = without_hash(slash + 1, stem);
    thread_local std::string stand_in;
    stand_in = own_folder() + name;
    if (!name.empty() && access(stand_in.c_str(), R_OK) == 0) return stand_in.c_str();
  }
  return path;
}

using Open = void* (*)(const char*, int);

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// By a jump, not a call: the loader searches the RUNPATH of the library that its return address lies in.
__attribute__((optimize("O2"))) void* dlopen(const char* path, int mode) {
  static const Open real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return real(redirected(path), mode);
}

}  // extern "C"
#pragma GCC visibility pop
