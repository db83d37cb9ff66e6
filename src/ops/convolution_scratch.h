// The scratch memory that cuDNN asks for in a convolution.  cuDNN chooses among its kernels by rules that it does
// not publish, so these are tables (data/convolutions), recorded from cuDNN itself, per release of it, by
// tools/trace/record_convolutions.py for the kernel shapes that the families use; of others cuDNN is asked.
#pragma once
#include <span>
#include <string_view>

#include "ops/convolution.h"

namespace tidemark {

struct ConvolutionScratch {
  std::int64_t forward_bytes = 0;
  std::int64_t backward_bytes = 0, input_bytes = 0;  // of the weight's gradient, and of the input's
};

/// Whether torch runs a kernel of its own, which takes none: a group is one channel.  torch: Convolution.cpp,
/// use_cudnn_depthwise, check_cudnn_depthwise_workload_with_filter (2.11.0)
bool is_depthwise(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape);

/// Of the run's card and its release's cuDNN, or the newest before it that was recorded; for a shape, a type, a card or
/// a number of images that is not in the tables what RunConfig::ask_cudnn says.  Throws Error{unsupported} where that
/// does not.
ConvolutionScratch convolution_scratch(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape,
                                       bool channels_last);

/// The cards of one compute capability, which agree (checked between 114 and 132 multiprocessors of 9.0, 80 and 82 of
/// 8.6, 128 and 142 of 8.9).  A row is "dtype kernel image channels-out | forward | backward", both of which are linear
/// pieces in the number of images, written first:slope:constant.  One that is not of patches of three channels has
/// "from channels-in by stride around padding over dilation in groups" behind its channels, "channels_last" behind that
/// where cuDNN gets them so, and a third part, of the gradient of its input.  "most 32": it was recorded up to 32
/// images; where a row does not say so, up to 512, or 65,536 of three dimensions.
struct ConvolutionTable {
  std::string_view cudnn;           // "9.19"
  std::int64_t compute_capability;  // 90 for 9.0
  std::string_view rows;
};

/// All of data/convolutions.
std::span<const ConvolutionTable> convolution_tables();

}  // namespace tidemark
