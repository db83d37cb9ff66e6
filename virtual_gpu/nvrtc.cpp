// libnvrtc: run-time compilation "succeeds" with an empty program; what such kernels write is computed by the part
// inside PyTorch.
#include <cstddef>

#include "card.h"
#include "cuda_abi.h"
#include "handles.h"

using namespace tidemark;
using abi::Status;

#pragma GCC visibility push(default)
extern "C" {

Status nvrtcVersion(int* major, int* minor) {
  *major = card().cuda_major;
  *minor = card().cuda_minor;
  return 0;
}
const char* nvrtcGetErrorString(Status) { return "NVRTC_SUCCESS"; }
Status nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
  put_handle(program);
  return 0;
}
Status nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
Status nvrtcAddNameExpression(void*, const char*) { return 0; }
Status nvrtcDestroyProgram(void** program) {
  *program = nullptr;
  return 0;
}
Status nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
Status nvrtcGetSupportedArchs(int* archs) {
  *archs = card().compute_capability_major * 10 + card().compute_capability_minor;
  return 0;
}
Status nvrtcGetCUBINSize(void*, std::size_t* bytes) {
  *bytes = 8;
  return 0;
}
Status nvrtcGetCUBIN(void*, char* code) {
  for (int i = 0; i < 8; ++i) code[i] = 0;
  return 0;
}
Status nvrtcGetPTXSize(void*, std::size_t* bytes) {
  *bytes = 8;
  return 0;
}
Status nvrtcGetPTX(void*, char* code) {
  for (int i = 0; i < 8; ++i) code[i] = 0;
  return 0;
}
Status nvrtcGetProgramLogSize(void*, std::size_t* bytes) {
  *bytes = 1;
  return 0;
}
Status nvrtcGetProgramLog(void*, char* log) {
  *log = 0;
  return 0;
}
Status nvrtcGetLoweredName(void*, const char* name, const char** lowered) {
  *lowered = name;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
