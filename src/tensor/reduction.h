// Global memory that a reduction kernel takes beside its result: partial sums and semaphores, when one block of threads
// cannot finish an output alone.  torch: aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig (2.11.0)
#pragma once
#include "memory/card.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"

namespace tidemark {

struct ReductionScratch {
  std::int64_t buffer_bytes = 0, semaphore_bytes = 0;  // both 0: none
  bool operator==(const ReductionScratch&) const = default;
};

/// Of reducing the dimensions of `input` that `reduced` marks with 1; `accumulate` is what the kernel adds up in.
ReductionScratch reduction_scratch(const Layout& input, const Dims& reduced, Dtype input_dtype, Dtype accumulate,
                                   const Card& card);

}  // namespace tidemark
