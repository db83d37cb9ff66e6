// libcudnn, the old ("v7") interface: how much scratch memory batch norm, RNNs, CTC loss and convolutions through it
// take.  The real library says it, asked through its own handle (cudnn_real.h); nothing is executed.
#include <atomic>
#include <cstdint>
#include <cstdio>

#include "cudnn_abi.h"
#include "cudnn_forward.h"

namespace tidemark::cudnn {

Status refuse(const char* call, const char* why) {
  std::fprintf(stderr, "tidemark: cuDNN: %s is not stood in for on the virtual GPU: %s\n", call, why);
  return kNotSupported;
}

namespace {

constexpr const char* kRunsEverything =
    "it runs every algorithm and takes the fastest, and nothing runs here; turn torch.backends.cudnn.benchmark off";

enum class BatchNormMode : int { per_activation = 0, spatial = 1, spatial_persistent = 2 };  // cudnnBatchNormMode_t

/// Without the real library's old interface: batch norm of NCHW and 2-D inputs (modes spatial and per_activation) is
/// assumed to need neither workspace nor reserve space, and that is said.  NHWC training takes the persistent mode,
/// which has both (getCudnnBatchNormMode in ATen's BatchNorm.cpp).
template <class... Arguments>
Status batch_norm_space(const char* call, void* handle, int mode, int operations, std::size_t* bytes,
                        Arguments... arguments) {
  if (real_function(call) || mode == static_cast<int>(BatchNormMode::spatial_persistent))
    return forward_with_handle(call, handle, mode, operations, arguments..., bytes);
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    std::fprintf(stderr,
                 "tidemark: cuDNN: batch norm of NCHW tensors is taken to need no workspace and no reserve space\n");
  *bytes = 0;
  return kSuccess;
}

Status set_dropout(const char* call, void* dropout, void* handle, float probability, void* states, std::size_t bytes,
                   unsigned long long seed) {
  auto* function =
      reinterpret_cast<Status (*)(void*, void*, float, void*, std::size_t, unsigned long long)>(real_function(call));
  if (!function) return refuse(call, kNeedsLibrary);
  void* real = real_handle(handle);
  return real ? function(dropout, real, probability, states, bytes, seed) : kNotInitialized;
}

}  // namespace
}  // namespace tidemark::cudnn

using namespace tidemark;
using namespace tidemark::cudnn;

#pragma GCC visibility push(default)
extern "C" {

Status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void* handle, int mode, int operations, void* x,
                                                                void* z, void* y, void* scale, void* activation,
                                                                std::size_t* bytes) {
  return batch_norm_space(__func__, handle, mode, operations, bytes, x, z, y, scale, activation);
}
Status cudnnGetBatchNormalizationBackwardExWorkspaceSize(void* handle, int mode, int operations, void* x, void* y,
                                                         void* dy, void* dz, void* dx, void* scale, void* activation,
                                                         std::size_t* bytes) {
  return batch_norm_space(__func__, handle, mode, operations, bytes, x, y, dy, dz, dx, scale, activation);
}
Status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void* handle, int mode, int operations, void* activation,
                                                            void* x, std::size_t* bytes) {
  return batch_norm_space(__func__, handle, mode, operations, bytes, activation, x);
}

Status cudnnDropoutGetStatesSize(void* handle, std::size_t* bytes) {
  return forward_with_handle(__func__, handle, bytes);
}
Status cudnnRestoreDropoutDescriptor(void* dropout, void* handle, float probability, void* states, std::size_t bytes,
                                     unsigned long long seed) {
  return set_dropout(__func__, dropout, handle, probability, states, bytes, seed);
}
/// Setting fills the states by a kernel; restoring takes them as they are, but no null pointer, which no dropout has.
Status cudnnSetDropoutDescriptor(void* dropout, void* handle, float probability, void* states, std::size_t bytes,
                                 unsigned long long seed) {
  return set_dropout(states ? "cudnnRestoreDropoutDescriptor" : "cudnnSetDropoutDescriptor", dropout, handle,
                     probability, states, bytes, seed);
}

Status cudnnGetRNNWeightSpaceSize(void* handle, void* rnn, std::size_t* bytes) {
  return forward_with_handle(__func__, handle, rnn, bytes);
}
Status cudnnGetRNNTempSpaceSizes(void* handle, void* rnn, int mode, void* x, std::size_t* workspace_bytes,
                                 std::size_t* reserve_bytes) {
  return forward_with_handle(__func__, handle, rnn, mode, x, workspace_bytes, reserve_bytes);
}
Status cudnnGetRNNWeightParams(void* handle, void* rnn, std::int32_t layer, std::size_t bytes, const void* weights,
                               std::int32_t which, void* matrix, void** matrix_at, void* bias, void** bias_at) {
  return forward_with_handle(__func__, handle, rnn, layer, bytes, weights, which, matrix, matrix_at, bias, bias_at);
}

Status cudnnGetCTCLossWorkspaceSize(void* handle, void* probabilities, void* gradients, const int* labels,
                                    const int* label_lengths, const int* input_lengths, int algorithm, void* loss,
                                    std::size_t* bytes) {
  return forward_with_handle(__func__, handle, probabilities, gradients, labels, label_lengths, input_lengths,
                             algorithm, loss, bytes);
}
Status cudnnGetCTCLossWorkspaceSize_v8(void* handle, int algorithm, void* loss, void* probabilities, void* gradients,
                                       std::size_t* bytes) {
  return forward_with_handle(__func__, handle, algorithm, loss, probabilities, gradients, bytes);
}

// The three directions of a convolution take their descriptors in another order each, but all four, and then the same.
Status cudnnGetConvolutionForwardAlgorithm_v7(void* handle, void* a, void* b, void* c, void* d, int room, int* count,
                                              void* results) {
  return forward_with_handle(__func__, handle, a, b, c, d, room, count, results);
}
Status cudnnGetConvolutionForwardWorkspaceSize(void* handle, void* a, void* b, void* c, void* d, int algorithm,
                                               std::size_t* bytes) {
  return forward_with_handle(__func__, handle, a, b, c, d, algorithm, bytes);
}
Status cudnnFindConvolutionForwardAlgorithmEx() { return refuse(__func__, kRunsEverything); }
Status cudnnGetConvolutionBackwardDataAlgorithm_v7(void* handle, void* a, void* b, void* c, void* d, int room,
                                                   int* count, void* results) {
  return forward_with_handle(__func__, handle, a, b, c, d, room, count, results);
}
Status cudnnGetConvolutionBackwardDataWorkspaceSize(void* handle, void* a, void* b, void* c, void* d, int algorithm,
                                                    std::size_t* bytes) {
  return forward_with_handle(__func__, handle, a, b, c, d, algorithm, bytes);
}
Status cudnnFindConvolutionBackwardDataAlgorithmEx() { return refuse(__func__, kRunsEverything); }
Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(void* handle, void* a, void* b, void* c, void* d, int room,
                                                     int* count, void* results) {
  return forward_with_handle(__func__, handle, a, b, c, d, room, count, results);
}
Status cudnnGetConvolutionBackwardFilterWorkspaceSize(void* handle, void* a, void* b, void* c, void* d, int algorithm,
                                                      std::size_t* bytes) {
  return forward_with_handle(__func__, handle, a, b, c, d, algorithm, bytes);
}
Status cudnnFindConvolutionBackwardFilterAlgorithmEx() { return refuse(__func__, kRunsEverything); }

}  // extern "C"
#pragma GCC visibility pop
