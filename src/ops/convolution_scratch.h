// The scratch memory that cuDNN asks for in a patch embedding.  cuDNN chooses among its kernels by rules that it does
// not publish, so this is a table, recorded from cuDNN itself (9.19, as torch 2.11.0 brings it) by
// tools/trace/record_convolutions.py for the kernel shapes that the families use.
#pragma once
#include <span>
#include <string_view>

#include "tensor/tensor.h"

namespace tidemark {

struct Card;

struct ConvolutionScratch {
  std::int64_t forward_bytes = 0, backward_bytes = 0;  // of the weight's gradient
};

/// Throws Error{unsupported} for a shape, a type or a card that is not in the table.
ConvolutionScratch convolution_scratch(const Tensor& x, const Tensor& weight, const Card& card);

/// The cards of one compute capability, which agree (checked between 114 and 132 multiprocessors of 9.0, 80 and 82 of
/// 8.6, 128 and 142 of 8.9).  A row is "dtype kernel image channels-out | forward | backward", both of which are linear
/// pieces in the number of images, written first:slope:constant.
struct ConvolutionTable {
  std::int64_t compute_capability;  // 90 for 9.0
  std::string_view rows;
};

/// One per file that the script writes: convolution_table_*.cpp.
std::span<const ConvolutionTable> convolution_tables_8();
std::span<const ConvolutionTable> convolution_tables_9();
std::span<const ConvolutionTable> convolution_tables_10();

}  // namespace tidemark
