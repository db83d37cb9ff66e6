// Libraries whose scratch memory only they know (cuSOLVER, cuSPARSE, cuFFT, cuRAND generators, cuFile, NVSHMEM): not
// stood in for. Their entry points refuse, so that PyTorch raises an error that names the call, and the reason is said
// once.
#include <cstdio>
#include <cstdlib>

#include "cuda_abi.h"
#include "handles.h"

namespace {

using tidemark::abi::Status;

Status refuse(const char* library, const char* call, Status status) {
  std::fprintf(
      stderr,
      "tidemark: %s is not stood in for on the virtual GPU (%s): how much scratch memory it takes is not known without it\n",
      library, call);
  return status;
}

constexpr Status kCusolverNotSupported = 9;   // CUSOLVER_STATUS_NOT_SUPPORTED
constexpr Status kCusparseNotSupported = 10;  // CUSPARSE_STATUS_NOT_SUPPORTED
constexpr Status kCufftNotSupported = 16;     // CUFFT_NOT_SUPPORTED
constexpr Status kCurandFailed = 203;         // CURAND_STATUS_INITIALIZATION_FAILED

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cusolverDnCreate(void**) { return refuse("cuSOLVER", "cusolverDnCreate", kCusolverNotSupported); }
Status cusparseCreate(void**) { return refuse("cuSPARSE", "cusparseCreate", kCusparseNotSupported); }
const char* cusparseGetErrorString(Status) { return "operation not supported by the virtual GPU"; }
const char* cusparseGetErrorName(Status) { return "CUSPARSE_STATUS_NOT_SUPPORTED"; }
Status cusparseLtInit(void*) { return refuse("cuSPARSELt", "cusparseLtInit", kCusparseNotSupported); }
Status cufftCreate(int*) { return refuse("cuFFT", "cufftCreate", kCufftNotSupported); }
Status curandCreateGenerator(void**, int) { return refuse("cuRAND", "curandCreateGenerator", kCurandFailed); }

}  // extern "C"
#pragma GCC visibility pop
