#include "elf/nvidia_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tidemark::elf {
namespace {

// Each is followed by a capital letter in a real name: cublasLtMatmul, cudaMalloc, __cudaRegisterFatBinary.
constexpr std::array<std::string_view, 20> kPrefixes{
    "cuda",  "__cuda", "cublas", "cudnn", "cufft", "curand", "cusolver",  "cusparse",      "cupti",  "cuFile",
    "cudss", "nccl",   "pnccl",  "nvrtc", "nvml",  "nvtx",   "nvJitLink", "nvPTXCompiler", "nvjpeg", "nvblas"};

// These go on in lower case: nvshmem_malloc, nvshmemx_get_uniqueid, __nvJitLinkCreate_12_4.
constexpr std::array<std::string_view, 4> kOpenPrefixes{"nvshmem_", "nvshmemx_", "nvshmemi", "__nvJitLink"};

constexpr std::array<std::string_view, 26> kLibraries{
    "libcuda",           "libcudart",     "libcublas", "libcublasLt",     "libcudnn",     "libcufft",
    "libcufftw",         "libcufile",     "libcupti",  "libcurand",       "libcusolver",  "libcusolverMg",
    "libcusparse",       "libcusparseLt", "libnccl",   "libnvrtc",        "libnvJitLink", "libnvToolsExt",
    "libnvtx3interop",   "libnvidia-ml",  "libcudss",  "libnvshmem_host", "libnvblas",    "libnvjpeg",
    "libnvrtc-builtins", "libcudla"};

}  // namespace

bool is_nvidia_function(std::string_view symbol) {
  const auto open = [&](std::string_view prefix) {
    return symbol.starts_with(prefix) && symbol.size() > prefix.size();
  };
  if (symbol.starts_with("nvshmemid_") || std::any_of(kOpenPrefixes.begin(), kOpenPrefixes.end(), open)) return true;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return open(prefix) && std::isupper(static_cast<unsigned char>(symbol[prefix.size()]));
  });
}

bool is_nvidia_library(std::string_view soname) {
  const std::size_t stem = soname.find(".so");
  if (stem == std::string_view::npos) return false;
  const std::string_view rest = soname.substr(stem + 3);
  if (!rest.empty() && rest[0] != '.') return false;
  // cuDNN 9 is split into libcudnn_graph, libcudnn_cnn, …
  const std::string_view name = soname.substr(0, stem);
  return name.starts_with("libcudnn_") || std::find(kLibraries.begin(), kLibraries.end(), name) != kLibraries.end();
}

std::string name_before_vendoring(std::string_view file_name) {
  constexpr std::size_t kHashDigits = 8;
  const std::size_t stem = file_name.find(".so");
  if (stem == std::string_view::npos || stem < kHashDigits + 2) return std::string(file_name);
  const std::string_view hash = file_name.substr(stem - kHashDigits, kHashDigits);
  const char before = file_name[stem - kHashDigits - 1];
  const bool is_hash = std::all_of(hash.begin(), hash.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!is_hash || (before != '.' && before != '-')) return std::string(file_name);
  return std::string(file_name.substr(0, stem - kHashDigits - 1)).append(file_name.substr(stem));
}

}  // namespace tidemark::elf
