// Loading the real libcudnn and telling it of the card.
#include "cudnn_real.h"

#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

#include "card.h"
#include "library_memory.h"

namespace tidemark::cudnn {
namespace {

constexpr const char* kHowToGet =
    "convolutions need the real libcudnn, which alone knows their workspace: install NVIDIA's cuDNN package beside torch, or "
    "run `python -m tidemark.cudnn_fetch`, or name its folder in TIDEMARK_CUDNN_DIR";

const Real* refuse(const char* reason, const char* detail) {
  std::fprintf(stderr, "tidemark: cuDNN: %s%s%s; %s\n", reason, *detail ? ": " : "", detail, kHowToGet);
  return nullptr;
}

struct Handles {
  std::mutex mutex;
  std::map<void*, void*> real_of;
};
Handles& handles() {
  static auto* all = new Handles;
  return *all;
}

/// Its own names first: those that it shares with its neighbours (cudnnGetStream, cudnnSetTensorNdDescriptor…) are ours
/// in the global scope.
void* open_library(const std::string& folder, const char* name) {
  return dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
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
  return resolve(library, "cudnnBackendCreateDescriptor", r.create) &&
         resolve(library, "cudnnBackendDestroyDescriptor", r.destroy) &&
         resolve(library, "cudnnBackendFinalize", r.finalize) && resolve(library, "cudnnBackendSetAttribute", r.set) &&
         resolve(library, "cudnnBackendGetAttribute", r.get) &&
         resolve(library, "cudnnGetLastErrorString", r.last_error) && resolve(library, "cudnnCreate", r.make_handle);
}

bool make_card(Real& r) {
  const std::string text = describe_card();
  return r.create(kDevicePropDescriptor, &r.card) == kSuccess &&
         r.set(r.card, attribute::kDevicePropJson, type::kChar, static_cast<std::int64_t>(text.size()), text.c_str()) ==
             kSuccess &&
         r.finalize(r.card) == kSuccess;
}

const Real* load() {
  // CUDA 13 has no code below compute capability 7.5 (release notes of CUDA 13.0), so its cuDNN cannot run there
  // whatever it answers.
  const Card& c = tidemark::card();
  if (c.cuda_major >= 13 && c.compute_capability_major * 10 + c.compute_capability_minor < 75) {
    std::fprintf(stderr,
                 "tidemark: cuDNN: no CUDA 13 library runs on a card before Turing: %s; take a torch for CUDA 12\n",
                 c.name.c_str());
    return nullptr;
  }
  const std::string folder = find_folder();
  if (folder.empty()) return refuse("not found", "");
  // The graph library alone: heuristics and engines are loaded by it.
  void* library = open_library(folder, "libcudnn_graph.so.9");
  if (!library) return refuse("cannot be loaded", dlerror());
  static Real r{};
  if (!resolve_all(library, r)) return refuse("a function is missing in", folder.c_str());
  if (r.version >= kFirstDeviceLessVersion && !make_card(r)) {
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

void* real_handle(void* handle) {
  const Real* r = real();
  if (!r) return nullptr;
  const std::lock_guard lock(handles().mutex);
  void*& made = handles().real_of[handle];
  const LibraryAtWork at_work;
  if (made || r->make_handle(&made) == kSuccess) return made;
  char message[512] = "";
  r->last_error(message, sizeof message);
  refuse("makes no handle", message);
  return made = nullptr;
}

void* real_function(const char* name) {
  static const std::vector<void*> libraries = [] {
    std::vector<void*> found;
    if (!real()) return found;
    const std::string folder = find_folder();
    for (const char* library : {"libcudnn_ops.so.9", "libcudnn_adv.so.9", "libcudnn_cnn.so.9"})
      if (void* opened = open_library(folder, library)) found.push_back(opened);
    return found;
  }();
  for (void* library : libraries)
    if (void* function = dlsym(library, name)) return function;
  return nullptr;
}

}  // namespace tidemark::cudnn
