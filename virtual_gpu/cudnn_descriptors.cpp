// libcudnn, the old ("v7") interface's descriptors: the real library's own, since its answers read them.  Where only
// the graph library is there nothing reads them, and they are handles with nothing behind them.
#include <cstdint>

#include "cudnn_abi.h"
#include "cudnn_forward.h"
#include "handles.h"

using namespace tidemark;
using namespace tidemark::cudnn;

namespace {

Status create(const char* call, void** descriptor) {
  if (real_function(call)) return forward(call, descriptor);
  put_handle(descriptor);
  return kSuccess;
}

template <class... Arguments>
Status set(const char* call, Arguments... arguments) {
  return real_function(call) ? forward(call, arguments...) : kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudnnCreateTensorDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyTensorDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateFilterDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyFilterDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateConvolutionDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyConvolutionDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateActivationDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyActivationDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreatePoolingDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyPoolingDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateSpatialTransformerDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroySpatialTransformerDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateDropoutDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyDropoutDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateRNNDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyRNNDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateRNNDataDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyRNNDataDescriptor(void* d) { return set(__func__, d); }
Status cudnnCreateCTCLossDescriptor(void** d) { return create(__func__, d); }
Status cudnnDestroyCTCLossDescriptor(void* d) { return set(__func__, d); }

Status cudnnSetTensorNdDescriptor(void* d, int type, int rank, const int* sizes, const int* strides) {
  return set(__func__, d, type, rank, sizes, strides);
}
Status cudnnGetTensorNdDescriptor(void* d, int room, int* type, int* rank, int* sizes, int* strides) {
  return forward(__func__, d, room, type, rank, sizes, strides);
}
Status cudnnSetFilterNdDescriptor(void* d, int type, int format, int rank, const int* sizes) {
  return set(__func__, d, type, format, rank, sizes);
}
Status cudnnGetFilterNdDescriptor(void* d, int room, int* type, int* format, int* rank, int* sizes) {
  return forward(__func__, d, room, type, format, rank, sizes);
}
Status cudnnSetConvolutionNdDescriptor(void* d, int rank, const int* padding, const int* strides, const int* dilations,
                                       int mode, int type) {
  return set(__func__, d, rank, padding, strides, dilations, mode, type);
}
Status cudnnSetConvolutionGroupCount(void* d, int groups) { return set(__func__, d, groups); }
Status cudnnSetConvolutionMathType(void* d, int type) { return set(__func__, d, type); }
Status cudnnSetActivationDescriptor(void* d, int mode, int nan, double coefficient) {
  return set(__func__, d, mode, nan, coefficient);
}
Status cudnnSetRNNDataDescriptor(void* d, int type, int layout, int longest, int batch, int vector, const int* lengths,
                                 void* padding) {
  return set(__func__, d, type, layout, longest, batch, vector, lengths, padding);
}
Status cudnnSetRNNDescriptor_v8(void* d, int algorithm, int cell, int bias, int direction, int input_mode, int type,
                                int math_precision, int math_type, std::int32_t input, std::int32_t hidden,
                                std::int32_t projection, std::int32_t layers, void* dropout, std::uint32_t flags) {
  return set(__func__, d, algorithm, cell, bias, direction, input_mode, type, math_precision, math_type, input, hidden,
             projection, layers, dropout, flags);
}
Status cudnnSetCTCLossDescriptorEx(void* d, int type, int normalisation, int nan) {
  return set(__func__, d, type, normalisation, nan);
}
Status cudnnSetCTCLossDescriptor_v9(void* d, int type, int normalisation, int gradient, int longest) {
  return set(__func__, d, type, normalisation, gradient, longest);
}

}  // extern "C"
#pragma GCC visibility pop
