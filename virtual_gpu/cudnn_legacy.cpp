// libcudnn, the legacy ("v7") interface: batch norm, and what PyTorch still asks of it besides.
//
// These calls take a handle, and the real library makes one only where a driver is; so nothing real can be asked here.  What a call
// would answer is either known or the call is refused by name, which PyTorch turns into an error.
#include <atomic>
#include <cstdio>

#include "cudnn_abi.h"
#include "handles.h"

namespace tidemark::cudnn {
namespace {

enum class BatchNormMode : int { per_activation = 0, spatial = 1, spatial_persistent = 2 };   // cudnnBatchNormMode_t

Status refuse(const char* call, const char* why) {
  std::fprintf(stderr, "tidemark: cuDNN: %s is not stood in for on the virtual GPU: %s\n", call, why);
  return kNotSupported;
}

constexpr const char* kNeedsHandle = "the scratch memory it takes is known to the real library alone, and only beside a driver";
constexpr const char* kOldConvolution = "PyTorch's v8 convolutions are; unset TORCH_CUDNN_V8_API_DISABLED";

/// That batch norm of NCHW and 2-D inputs (modes spatial and per_activation) needs neither workspace nor reserve space is an
/// assumption, and is said.  NHWC training takes the persistent mode, which has both (getCudnnBatchNormMode in ATen's BatchNorm.cpp).
Status batch_norm_space(const char* call, int mode, std::size_t* bytes) {
  if (mode == static_cast<int>(BatchNormMode::spatial_persistent))
    return refuse(call, "channels_last training takes the persistent kernels, whose workspace and reserve space are not known; use NCHW");
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) std::fprintf(stderr, "tidemark: cuDNN: batch norm of NCHW tensors is taken to need no workspace and no reserve space\n");
  *bytes = 0;
  return kSuccess;
}

}  // namespace
}  // namespace tidemark::cudnn

using namespace tidemark;
using namespace tidemark::cudnn;

#pragma GCC visibility push(default)
extern "C" {

Status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void*, int mode, int, void*, void*, void*, void*, void*, std::size_t* bytes) {
  return batch_norm_space("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize", mode, bytes);
}
Status cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int mode, int, void*, void*, void*, void*, void*, void*, void*, std::size_t* bytes) {
  return batch_norm_space("cudnnGetBatchNormalizationBackwardExWorkspaceSize", mode, bytes);
}
Status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int mode, int, void*, void*, std::size_t* bytes) {
  return batch_norm_space("cudnnGetBatchNormalizationTrainingExReserveSpaceSize", mode, bytes);
}

// Descriptors: nothing is behind them, since nothing that would read them answers.
Status cudnnCreateTensorDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateFilterDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateConvolutionDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateActivationDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreatePoolingDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateSpatialTransformerDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateDropoutDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateRNNDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateRNNDataDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }
Status cudnnCreateCTCLossDescriptor(void** descriptor) { put_handle(descriptor); return kSuccess; }

#define TIDEMARK_REFUSE(name, why) \
  Status name() { return refuse(#name, why); }
TIDEMARK_REFUSE(cudnnDropoutGetStatesSize, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetRNNWeightSpaceSize, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetRNNTempSpaceSizes, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetRNNWeightParams, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetCTCLossWorkspaceSize, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetCTCLossWorkspaceSize_v8, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetTensorNdDescriptor, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetFilterNdDescriptor, kNeedsHandle)
TIDEMARK_REFUSE(cudnnGetConvolutionForwardAlgorithm_v7, kOldConvolution)
TIDEMARK_REFUSE(cudnnGetConvolutionBackwardDataAlgorithm_v7, kOldConvolution)
TIDEMARK_REFUSE(cudnnGetConvolutionBackwardFilterAlgorithm_v7, kOldConvolution)
TIDEMARK_REFUSE(cudnnGetConvolutionForwardWorkspaceSize, kOldConvolution)
TIDEMARK_REFUSE(cudnnGetConvolutionBackwardDataWorkspaceSize, kOldConvolution)
TIDEMARK_REFUSE(cudnnGetConvolutionBackwardFilterWorkspaceSize, kOldConvolution)
TIDEMARK_REFUSE(cudnnFindConvolutionForwardAlgorithmEx, kOldConvolution)
TIDEMARK_REFUSE(cudnnFindConvolutionBackwardDataAlgorithmEx, kOldConvolution)
TIDEMARK_REFUSE(cudnnFindConvolutionBackwardFilterAlgorithmEx, kOldConvolution)
#undef TIDEMARK_REFUSE

}  // extern "C"
#pragma GCC visibility pop
