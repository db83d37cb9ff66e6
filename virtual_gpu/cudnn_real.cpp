// Loading the real libcudnn and telling it of the card.
#include "cudnn_real.h"

#include <dlfcn.h>

#include <cstdio>

#include "card.h"

namespace tidemark::cudnn {
namespace {

constexpr const char* kHowToGet =
    "convolutions need the real libcudnn 9.8 or later, which answers without a GPU: install NVIDIA's cuDNN package beside torch, or "
    "run `python -m tidemark.cudnn_fetch`, or name its folder in TIDEMARK_CUDNN_DIR";

const Real* refuse(const char* reason, const char* detail) {
  std::fprintf(stderr, "tidemark: cuDNN: %s%s%s; %s\n", reason, *detail ? ": " : "", detail, kHowToGet);
  return nullptr;
}

template <class Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Functions by the library's own handle: the global names of the same spelling are ours.
bool resolve_all(void* library, Real& r) {
  std::size_t (*version)() = nullptr;
  if (!resolve(library, "cudnnGetVersion", version)) return false;
  r.version = version();
  return resolve(library, "cudnnBackendCreateDescriptor", r.create) && resolve(library, "cudnnBackendDestroyDescriptor", r.destroy) &&
         resolve(library, "cudnnBackendFinalize", r.finalize) && resolve(library, "cudnnBackendSetAttribute", r.set) &&
         resolve(library, "cudnnBackendGetAttribute", r.get) && resolve(library, "cudnnGetLastErrorString", r.last_error);
}

bool make_card(Real& r) {
  const std::string text = describe_card();
  return r.create(kDevicePropDescriptor, &r.card) == kSuccess &&
         r.set(r.card, attribute::kDevicePropJson, type::kChar, static_cast<std::int64_t>(text.size()), text.c_str()) == kSuccess &&
         r.finalize(r.card) == kSuccess;
}

const Real* load() {
  // CUDA 13 has no code below compute capability 7.5 (release notes of CUDA 13.0), so its cuDNN cannot run there whatever it answers.
  const Card& c = tidemark::card();
  if (c.cuda_major >= 13 && c.compute_capability_major * 10 + c.compute_capability_minor < 75) {
    std::fprintf(stderr, "tidemark: cuDNN: no CUDA 13 library runs on a card before Turing: %s; take a torch for CUDA 12\n", c.name.c_str());
    return nullptr;
  }
  const std::string folder = find_folder();
  if (folder.empty()) return refuse("not found", "");
  // The graph library alone: heuristics and engines are loaded by it, the old interface's libraries are not needed.
  void* library = dlopen((folder + "/libcudnn_graph.so.9").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return refuse("cannot be loaded", dlerror());
  static Real r{};
  if (!resolve_all(library, r)) return refuse("a function is missing in", folder.c_str());
  if (r.version < kFirstDeviceLessVersion) return refuse("too old", folder.c_str());
  if (!make_card(r)) {
    char message[512] = "";
    r.last_error(message, sizeof message);
    return refuse("does not take this card", message);
  }
  return &r;
}

}  // namespace

const Real* real() {
  static const Real* const the_real = load();
  return the_real;
}

}  // namespace tidemark::cudnn
