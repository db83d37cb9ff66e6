// libcudnn: handles, versions, error texts.
#include <cstddef>
#include <cstdio>

#include "card.h"
#include "cudnn_real.h"
#include "handles.h"

using namespace tidemark;
using namespace tidemark::cudnn;

#pragma GCC visibility push(default)
extern "C" {

Status cudnnCreate(void** handle) {
  put_handle(handle);
  return kSuccess;
}
Status cudnnDestroy(void*) { return kSuccess; }
Status cudnnSetStream(void* handle, void* stream) {
  tidemark::set_stream_of(handle, stream);
  return kSuccess;
}
Status cudnnGetStream(void*, void** stream) {
  *stream = nullptr;
  return kSuccess;
}

// What torch was built with, whichever library answers: torch refuses to run with an older one (ATen's CUDAHooks,
// torch.backends.cudnn).
std::size_t cudnnGetVersion() { return static_cast<std::size_t>(card().cudnn_version); }
std::size_t cudnnGetCudartVersion() {
  return static_cast<std::size_t>(card().cuda_major * 1000 + card().cuda_minor * 10);
}
Status cudnnGetProperty(int which, int* value) {  // libraryPropertyType: MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL
  const int version = card().cudnn_version;
  *value = which == 0 ? version / 10'000 : which == 1 ? version / 100 % 100 : version % 100;
  return kSuccess;
}

const char* cudnnGetErrorString(Status status) {
  switch (status) {
    case kSuccess: return "CUDNN_STATUS_SUCCESS";
    case kNotInitialized: return "CUDNN_STATUS_NOT_INITIALIZED (no real cuDNN to ask; the reason is on stderr)";
    case kBadParam: return "CUDNN_STATUS_BAD_PARAM";
    case kNotSupported: return "CUDNN_STATUS_NOT_SUPPORTED";
    default: return "CUDNN_STATUS (see cudnn_graph.h)";
  }
}
void cudnnGetLastErrorString(char* message, std::size_t room) {
  if (const Real* r = real())
    r->last_error(message, room);
  else if (room)
    std::snprintf(message, room, "no real cuDNN to ask");
}

}  // extern "C"
#pragma GCC visibility pop
