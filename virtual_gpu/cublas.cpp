// libcublas and libcublasLt: handles, and the answers that PyTorch reads back.  A workspace that PyTorch hands over is
// noted, and a product takes its time on the stream.  Signatures: cublas_api.h, cublasLt.h (CUDA 12.4, 13.0).
#include <cstdint>
#include <cstring>

#include "card.h"
#include "cuda_abi.h"
#include "device_clock.h"
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

/// cublasLtMatrixLayout_t behind its opaque pointer.  One that cublasLtMatrixLayoutInit made lies in the caller's
/// memory and has no mark.
struct Layout {
  int type;
  std::uint64_t rows, columns;
  int batch = 1;
  std::uint64_t mark = kMark;
  static constexpr std::uint64_t kMark = 0x74696465'6d61726b;
};

bool is_ours(const Layout* layout) { return layout && layout->mark == Layout::kMark; }

constexpr int kBatchCount = 5;  // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT

/// cudaDataType (library_types.h).  8-bit floats count as 16-bit ones: data/gpus.json has no rate for them.
Precision precision_of(int type) {
  switch (type) {
    case 0:
    case 4: return Precision::fp32;  // CUDA_R_32F, CUDA_C_32F
    case 1:
    case 5: return Precision::fp64;
    case 14: return Precision::bf16;
    default: return Precision::fp16;
  }
}

Status multiply(const void* handle, Precision precision, double m, double n, double k, double batch = 1,
                double operations_per_term = 2) {
  queue_matmul(stream_of(handle), operations_per_term * m * n * k * batch, precision);
  return 0;
}

constexpr double kComplex = 8;  // four multiplications and four additions per term

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cublasCreate_v2(void** handle) {
  put_handle(handle);
  return 0;
}
Status cublasGetVersion_v2(void*, int* version) {
  *version = card().cuda_major * 10000;
  return 0;
}
Status cublasGetProperty(int, int* value) {
  *value = card().cuda_major;
  return 0;
}
Status cublasGetMathMode(void*, int* mode) {
  *mode = 0;
  return 0;
}
Status cublasGetPointerMode_v2(void*, int* mode) {
  *mode = 0;
  return 0;
}
Status cublasSetStream_v2(void* handle, void* stream) {
  set_stream_of(handle, stream);
  return 0;
}
Status cublasGetStream_v2(void* handle, void** stream) {
  *stream = stream_of(handle);
  return 0;
}
Status cublasSetWorkspace_v2(void*, void* workspace, std::size_t) {
  note_role(workspace, Role::workspace);
  return 0;
}
const char* cublasGetStatusString(Status) { return "status of the virtual cuBLAS"; }

Status cublasSgemm_v2(void* handle, int, int, int m, int n, int k, ...) {
  return multiply(handle, Precision::fp32, m, n, k);
}
Status cublasDgemm_v2(void* handle, int, int, int m, int n, int k, ...) {
  return multiply(handle, Precision::fp64, m, n, k);
}
Status cublasCgemm_v2(void* handle, int, int, int m, int n, int k, ...) {
  return multiply(handle, Precision::fp32, m, n, k, 1, kComplex);
}
Status cublasZgemm_v2(void* handle, int, int, int m, int n, int k, ...) {
  return multiply(handle, Precision::fp64, m, n, k, 1, kComplex);
}
Status cublasSgemv_v2(void* handle, int, int m, int n, ...) { return multiply(handle, Precision::fp32, m, n, 1); }
Status cublasDgemv_v2(void* handle, int, int m, int n, ...) { return multiply(handle, Precision::fp64, m, n, 1); }
Status cublasCgemv_v2(void* handle, int, int m, int n, ...) {
  return multiply(handle, Precision::fp32, m, n, 1, 1, kComplex);
}
Status cublasZgemv_v2(void* handle, int, int m, int n, ...) {
  return multiply(handle, Precision::fp64, m, n, 1, 1, kComplex);
}
Status cublasSgemmEx(void* handle, int, int, int m, int n, int k, const void*, const void*, int a_type, ...) {
  return multiply(handle, precision_of(a_type), m, n, k);
}
Status cublasGemmEx(void* handle, int, int, int m, int n, int k, const void*, const void*, int a_type, ...) {
  return multiply(handle, precision_of(a_type), m, n, k);
}
Status cublasSgemmStridedBatched(void* handle, int, int, int m, int n, int k, const void*, const void*, int, long long,
                                 const void*, int, long long, const void*, void*, int, long long, int batch) {
  return multiply(handle, Precision::fp32, m, n, k, batch);
}
Status cublasDgemmStridedBatched(void* handle, int, int, int m, int n, int k, const void*, const void*, int, long long,
                                 const void*, int, long long, const void*, void*, int, long long, int batch) {
  return multiply(handle, Precision::fp64, m, n, k, batch);
}
Status cublasCgemmStridedBatched(void* handle, int, int, int m, int n, int k, const void*, const void*, int, long long,
                                 const void*, int, long long, const void*, void*, int, long long, int batch) {
  return multiply(handle, Precision::fp32, m, n, k, batch, kComplex);
}
Status cublasZgemmStridedBatched(void* handle, int, int, int m, int n, int k, const void*, const void*, int, long long,
                                 const void*, int, long long, const void*, void*, int, long long, int batch) {
  return multiply(handle, Precision::fp64, m, n, k, batch, kComplex);
}
Status cublasGemmStridedBatchedEx(void* handle, int, int, int m, int n, int k, const void*, const void*, int a_type,
                                  int, long long, const void*, int, int, long long, const void*, void*, int, int,
                                  long long, int batch, int, int) {
  return multiply(handle, precision_of(a_type), m, n, k, batch);
}

Status cublasLtCreate(void** handle) {
  put_handle(handle);
  return 0;
}
std::size_t cublasLtGetVersion() { return static_cast<std::size_t>(card().cuda_major) * 10000; }
Status cublasLtMatmulDescCreate(void** descriptor, int, int) {
  put_handle(descriptor);
  return 0;
}
Status cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t) {
  *layout = new Layout{type, rows, columns};
  return 0;
}
Status cublasLtMatrixLayoutDestroy(Layout* layout) {
  if (is_ours(layout)) delete layout;
  return 0;
}
Status cublasLtMatrixLayoutSetAttribute(Layout* layout, int which, const void* value, std::size_t bytes) {
  if (is_ours(layout) && which == kBatchCount && bytes == sizeof layout->batch)
    std::memcpy(&layout->batch, value, bytes);
  return 0;
}
Status cublasLtMatmulPreferenceCreate(void** preference) {
  put_handle(preference);
  return 0;
}
/// One algorithm is always found; its workspace is the caller's affair (PyTorch allocates one of fixed size
/// beforehand).
Status cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, HeuristicResult results[],
                                      int* count) {
  std::memset(&results[0], 0, sizeof results[0]);
  *count = 1;
  return 0;
}
Status cublasLtMatmul(void*, void*, const void*, const void*, const Layout* a, const void*, void*, const void*,
                      const void*, void*, void*, const Layout* d, const void*, void* workspace, std::size_t,
                      void* stream) {
  note_role(workspace, Role::workspace);
  // A is m x k or k x m, by a flag of the descriptor; D is m x n.
  const auto elements = [](const Layout& layout) {
    return static_cast<double>(layout.rows) * static_cast<double>(layout.columns);
  };
  if (is_ours(a) && is_ours(d) && d->rows)
    queue_matmul(stream, 2 * elements(*d) * elements(*a) / static_cast<double>(d->rows) * d->batch,
                 precision_of(a->type));
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
