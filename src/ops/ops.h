// Every operation, as PyTorch names it.  Sizes and types as there; data does not exist.  An operation takes its tensors
// by value and lets go of them before it returns, so that temporaries die when CPython's would.
//
// Never nest two operations as arguments of one call: C++ does not say which runs first.  Name them, or write
// `add({first, second})`: braces are evaluated from left to right.
#pragma once
#include <array>
#include <optional>
#include <span>

#include "tensor/arithmetic.h"
#include "tensor/node.h"
#include "tensor/run.h"

namespace tidemark {

/// Two operands, evaluated in order.
struct Pair {
  Tensor a, b;
};

// creation.cpp
Tensor arange(Run& run, std::int64_t end, Dtype dtype = Dtype::int64);
Tensor zeros(Run& run, const Dims& sizes, Dtype dtype);
Tensor eye(Run& run, std::int64_t n, Dtype dtype);
Tensor full(Run& run, const Dims& sizes, Dtype dtype);

// view.cpp: no memory, but where said
Tensor view(Tensor x, const Dims& sizes);
/// A copy when the layout does not allow a view.
Tensor reshape(Tensor x, const Dims& sizes);
Tensor transpose(Tensor x, int a, int b);
Tensor permute(Tensor x, const Dims& order);
Tensor unsqueeze(Tensor x, int d);
Tensor squeeze(Tensor x, int d);
Tensor expand(Tensor x, const Dims& sizes);
/// x[..., start:end, ...]
Tensor slice(Tensor x, int d, std::int64_t start, std::int64_t end);
/// x[..., start:end:step, ...]
Tensor slice_step(Tensor x, int d, std::int64_t start, std::int64_t end, std::int64_t step);
/// x[..., index, ...]
Tensor select(Tensor x, int d, std::int64_t index);
/// `parts` equal pieces.
Tensors chunk(Tensor x, int parts, int d);
Tensors split(Tensor x, std::int64_t piece, int d);
/// x.split([…], d)
Tensors split_sizes(Tensor x, const Dims& pieces, int d);
/// A copy when it is not contiguous.
Tensor contiguous(Tensor x);
Tensor clone(Tensor x);
/// Tensor.detach
Tensor detach(Tensor x);

// copy.cpp
/// Tensor.to(dtype): itself when it is that already.
Tensor to(Tensor x, Dtype dtype);
/// A batch or a weight that comes from the host.
Tensor to_device(Run& run, const Dims& sizes, Dtype dtype);
Tensor cat(Tensors parts, int d, std::optional<Dtype> also = {});
/// By a constant: widths before and after the last dimension, then those of the dimensions in front of it.
Tensor pad(Tensor x, const Dims& widths);
/// With a tensor of repeats (N) for x (N); `total` is their sum.
Tensor repeat_interleave(Tensor x, Tensor repeats, std::int64_t total);
/// Each slice along a dimension `repeats` times.
Tensor repeat_interleave(Tensor x, std::int64_t repeats, int d);
Tensor stack(const Tensors& parts, int d);

// elementwise.cpp
Tensor add(Tensor a, Tensor b);
Tensor add(Pair operands);
/// a += b
Tensor add_(Tensor a, Tensor b);
Tensor sub(Tensor a, Tensor b);
/// at::result_type: a zero-dimensional tensor does not widen one with dimensions of the same kind.
Dtype result_type(const Tensor& a, const Tensor& b);
Tensor mul(Tensor a, Tensor b);
Tensor mul(Pair operands);
/// a *= b
Tensor mul_(Tensor a, Tensor b);
Tensor div(Tensor a, Tensor b);
/// a /= b
Tensor div_(Tensor a, Tensor b);
/// With a Python number.
Tensor add_scalar(Tensor x);
Tensor mul_scalar(Tensor x);
Tensor div_scalar(Tensor x);
/// Of whole numbers: no gradient.
Tensor sub_scalar(Tensor x);
Tensor floor_divide(Tensor x);
Tensor clamp(Tensor x);
Tensor fmod(Tensor x);
Tensor neg(Tensor x);
/// x to the power of a Python number above 1.
Tensor pow2(Tensor x);
Tensor pow3(Tensor x);
/// A number on the device to whole powers: no gradient.
Tensor pow_tensor(Tensor base, Tensor powers);
Tensor rsqrt(Tensor x);
Tensor cos(Tensor x);
Tensor sin(Tensor x);
Tensor tanh(Tensor x);
Tensor sigmoid(Tensor x);
Tensor exp(Tensor x);
/// A comparison: no gradient, a boolean result.
Tensor compare(const char* name, Tensor a);
/// The same of two.
Tensor logical(const char* name, Tensor a, Tensor b);
/// Of whole numbers or truths, by its name: bitwise_and, bitwise_right_shift, …; of one, it and a number, or it alone.
Tensor bitwise(const char* name, Tensor a, Tensor b);
Tensor bitwise(const char* name, Tensor a);
/// `a` where the condition holds, else `b`.
Tensor where(Tensor condition, Tensor a, Tensor b);

// activation.cpp
Tensor silu(Tensor x);
Tensor gelu(Tensor x);
Tensor relu(Tensor x);
/// `result`: the dtype argument.
Tensor softmax(Tensor x, std::optional<Dtype> result = {});
Tensor log_sigmoid(Tensor x);
Tensor glu(Tensor x, int d);
Tensor dropout(Tensor x, double probability);

// reduction.cpp
/// Over some dimensions or, when none is named, over all.
Tensor mean(Tensor x, const Dims& dims = {}, bool keep_dims = false);
/// `dtype` is that of the result; by default integers give int64.
Tensor cumsum(Tensor x, int d, std::optional<Dtype> dtype = {});
/// Of whole numbers: over everything, and over one dimension.
Tensor max(Tensor x);
Tensor prod(Tensor x, int d, bool keep_dims = false);
/// Over some dimensions or, when none is named, over all.
Tensor sum(Tensor x, const Dims& dims = {}, bool keep_dims = false);
/// Over everything that is a number.
Tensor nansum(Tensor x);
Tensor nanmean(Tensor x);
/// Over some dimensions, which are kept; `ord` is 2.
Tensor linalg_vector_norm(Tensor x, double ord, const Dims& dims, bool keep_dims);

// matmul.cpp
Tensor matmul(Tensor a, Tensor b);
Tensor matmul(Pair operands);
/// x (…, K), weight (N, K), bias (N) or none -> (…, N)
Tensor linear(Tensor x, Tensor weight, Tensor bias = {});
Tensor addmm(Tensor bias, Tensor a, Tensor b);
Tensor mm(Tensor a, Tensor b);
Tensor bmm(Tensor a, Tensor b);
/// input + alpha * bmm(a, b): input broadcast to the product.
Tensor baddbmm(Tensor input, Tensor a, Tensor b, double alpha);
/// The memory that cuBLAS works in, for the time of a product; none where the thread keeps what it has.
Ref<Storage> matmul_workspace(Run& run);

// distance.cpp
/// x (B, N, D), y (B, M, D) -> (B, N, M): Euclidean.  No gradient.
Tensor cdist(Tensor x, Tensor y);

// grouped_mm.cpp
/// Rows x (S, K) times weights (E, K, N), each group of rows with its own: group e ends before offsets[e].  -> (S, N)
Tensor grouped_mm(Tensor x, Tensor weights, Tensor offsets);

// attention.cpp
struct AttentionOptions {
  bool causal = false;
  bool enable_gqa = false;
  double dropout = 0;
};
/// q (B, H, S, D), k and v (B, K, T, D), mask broadcast to (B, H, S, T) or none.
Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor mask, const AttentionOptions& options);

// normalization.cpp
Tensor layer_norm(Tensor x, Tensor weight, Tensor bias);

// embedding.cpp
Tensor embedding(Tensor weight, Tensor indices);
/// (bags, rows of each) whole numbers and as many weights: the rows' sum, (bags, width).  No gradient of the weights.
Tensor embedding_bag(Tensor weight, Tensor indices, Tensor per_sample_weights);

// loss.cpp
/// logits (N, V), labels (N) -> a scalar; the mean over labels.
Tensor cross_entropy(Tensor logits, Tensor labels);

// indexing.cpp
/// x with its elements under the mask (broadcast to x) taken from `source`, all of it.
Tensor masked_scatter(Tensor x, Tensor mask, Tensor source);
/// x[rows]: x (B, …), rows (…) -> (…, …)
Tensor index_rows(Tensor x, Tensor rows);
/// x.argmax(dim=-1), x.argmin(dim=-1)
Tensor argmax(Tensor x);
Tensor argmin(Tensor x);
/// x[mask]: booleans of one dimension (N), of which `found` are true.
Tensor index_mask(Tensor x, Tensor mask, std::int64_t found);
/// mask.sum() of booleans.
Tensor count_true(Tensor mask);
/// Places of the `found` elements that are not zero: (found, dims); torch.where(x) has a tensor for each dimension.
Tensor nonzero(Tensor x, std::int64_t found);
Tensors where_true(Tensor x, std::int64_t found);
/// Whole numbers without those that are as the one before, of which so many are left.
Tensor unique_consecutive(Tensor x, std::int64_t found);

// routing.cpp
/// The k largest of each row, and their places: x (…, N) -> (…, k) twice.
std::array<Tensor, 2> topk(Tensor x, std::int64_t k);
/// x (N) in order, and where each stood.
std::array<Tensor, 2> sort(Tensor x);
/// Counts of whole numbers, from 0 to bins - 1.
Tensor histc(Tensor x, std::int64_t bins);
Tensor one_hot(Tensor x, std::int64_t classes);
/// Zero where the mask (broadcast to x) is true.
Tensor masked_fill(Tensor x, Tensor mask);
Tensor masked_fill_(Tensor x, Tensor mask);
/// x[index] += source, row by row.
Tensor index_add_(Tensor x, Tensor index, Tensor source);
Tensor scatter_add_(Tensor x, Tensor index, Tensor source);

// autocast: torch/csrc/autograd/autocast, at::autocast::cached_cast
Tensor autocast_low(Tensor x);
Tensor autocast_f32(Tensor x);

}  // namespace tidemark
