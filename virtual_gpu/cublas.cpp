// libcublas and libcublasLt: handles, and the answers that PyTorch reads back.  A workspace that PyTorch hands over is noted.
#include <cstdint>
#include <cstring>

#include "card.h"
#include "cuda_abi.h"
#include "handles.h"
#include "notes.h"

using namespace tidemark;
using abi::Status;

namespace {

/// cublasLtMatmulHeuristicResult_t (cublasLt.h, CUDA 12.4 and 13.0).
struct HeuristicResult {
  std::uint64_t algo[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cublasCreate_v2(void** handle) { put_handle(handle); return 0; }
Status cublasGetVersion_v2(void*, int* version) { *version = card().cuda_major * 10000; return 0; }
Status cublasGetProperty(int, int* value) { *value = card().cuda_major; return 0; }
Status cublasGetMathMode(void*, int* mode) { *mode = 0; return 0; }
Status cublasGetPointerMode_v2(void*, int* mode) { *mode = 0; return 0; }
Status cublasGetStream_v2(void*, void** stream) { *stream = nullptr; return 0; }
Status cublasSetWorkspace_v2(void*, void* workspace, std::size_t) { note_role(workspace, Role::workspace); return 0; }
const char* cublasGetStatusString(Status) { return "status of the virtual cuBLAS"; }

Status cublasLtCreate(void** handle) { put_handle(handle); return 0; }
std::size_t cublasLtGetVersion() { return static_cast<std::size_t>(card().cuda_major) * 10000; }
Status cublasLtMatmulDescCreate(void** descriptor, int, int) { put_handle(descriptor); return 0; }
Status cublasLtMatrixLayoutCreate(void** layout, int, std::uint64_t, std::uint64_t, std::int64_t) { put_handle(layout); return 0; }
Status cublasLtMatmulPreferenceCreate(void** preference) { put_handle(preference); return 0; }
/// One algorithm is always found; its workspace is the caller's affair (PyTorch allocates one of fixed size beforehand).
Status cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, HeuristicResult results[], int* count) {
  std::memset(&results[0], 0, sizeof results[0]);
  *count = 1;
  return 0;
}
Status cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*, void*, void*, const void*,
                      void* workspace, std::size_t, void*) {
  note_role(workspace, Role::workspace);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
