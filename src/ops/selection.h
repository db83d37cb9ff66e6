// What picks elements out, or puts them somewhere; the largest, the spread, and other reductions that few models call.
#pragma once
#include <array>

#include "tensor/tensor.h"

namespace tidemark {

/// x at the indices along a dimension; the result has the sizes of `index`.
Tensor gather(Tensor x, int d, Tensor index);
/// x.index_select(d, index): whole slices.
Tensor index_select(Tensor x, int d, Tensor index);
/// Where among the sorted boundaries each element of x belongs.
Tensor bucketize(Tensor x, Tensor boundaries);
/// x with a number put at the indices: a copy of it, or itself.
Tensor scatter_number(Tensor x, Tensor indices);
Tensor scatter_number_(Tensor x, Tensor indices);
/// x with elements of `source` at the indices: a copy of it, or itself.
Tensor scatter(Tensor x, int d, Tensor indices, Tensor source);
Tensor scatter_(Tensor x, int d, Tensor indices, Tensor source);
/// x with the largest or smallest of the elements of `source` at each index: a copy, without a gradient.
Tensor scatter_reduce(Tensor x, Tensor indices, Tensor source);
/// The largest or smallest along a dimension, and where it is.
std::array<Tensor, 2> extreme(const char* name, const char* backward, Tensor x, int d, bool keep_dims);
/// The same without places: torch.amax.
Tensor amax(Tensor x, int d, bool keep_dims);
Tensor logsumexp(Tensor x, int d, bool keep_dims);
/// The standard deviation along a dimension.
Tensor deviation(Tensor x, int d, bool keep_dims);
/// x.sum(dims, keep_dims, dtype)
Tensor sum_as(Tensor x, const Dims& dims, bool keep_dims, Dtype dtype);
/// The upper or lower triangle of matrices.
Tensor triangle(const char* name, const char* backward, Tensor x);
/// One view for each index of a dimension.
Tensors unbind(Tensor x, int d);
/// x.repeat(times…)
Tensor repeat(Tensor x, const Dims& times);
/// Of each place in `repeats` (N) as many as it says, `total` in all: what repeat_interleave takes its slices by.
Tensor repeated_places(Tensor repeats, std::int64_t total);
/// Tensor.to(dtype, memory_format=torch.contiguous_format)
Tensor to_in_order(Tensor x, Dtype dtype);
/// x[..., start:end] by numbers that take all of it: another view than x[:].
Tensor slice_all(Tensor x);
/// x with a dimension the other way round.
Tensor flip(Tensor x);
/// By a shift for each of the dimensions.
Tensor roll(Tensor x, const Dims& shifts, const Dims& dims);

}  // namespace tidemark
