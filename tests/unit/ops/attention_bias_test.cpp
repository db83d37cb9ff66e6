#include <gtest/gtest.h>

#include "ops/attention.h"
#include "ops/ops.h"
#include "tensor/engine.h"
#include "tensor/run.h"
#include "tensor/torch_release.h"

namespace tidemark {
namespace {

/// As PyTorch 2.11.0 asks for it on an H200: the bias is padded to rows of 104 elements, its gradient comes in rows of
/// 112, is put into the padded one's, and that is cut.
TEST(EfficientAttention, PadsABiasThatNeedsAGradient) {
  RunConfig config;
  config.torch = &torch_rules("2.11.0");
  config.card.compute_capability_major = 9;
  tidemark::Run run(config);
  const auto leaf = [&](const Dims& sizes) {
    Tensor x = empty(run, sizes, Dtype::bf16);
    x.impl().requires_grad = true;
    return x;
  };
  const Tensor bias = leaf({2, 8, 100, 100});
  const auto head_rows = [&] { return transpose(leaf({2, 100, 8, 64}), 1, 2); };
  const Tensor q = head_rows(), k = head_rows(), v = head_rows();
  const auto since = [&](std::size_t entry) {
    std::vector<std::int64_t> bytes;
    for (; entry < run.ledger().size(); ++entry) bytes.push_back(run.ledger()[entry].requested_bytes);
    return bytes;
  };
  const std::size_t forward = run.ledger().size();
  const Tensor y = scaled_dot_product_attention(q, k, v, bias, {});
  EXPECT_EQ(since(forward), (std::vector<std::int64_t>{332800, 204800, 8192}));
  Tensor gradient = empty(run, y.sizes(), y.dtype());
  const std::size_t begin = run.ledger().size();
  backward(Tensors{y}, Tensors{std::move(gradient)});
  const std::vector<std::int64_t> asked = since(begin);
  for (const std::int64_t bytes : {358400, 332800, 320000})
    EXPECT_EQ(std::count(asked.begin(), asked.end(), bytes), 1) << bytes;
  EXPECT_EQ(bias.grad().sizes(), bias.sizes());
}

/// As in Doge's layers: what the kernel gives as the gradient of the values is no view, so another is added to it in
/// place.
TEST(EfficientAttention, GradientsAreAddedToInPlace) {
  RunConfig config;
  config.torch = &torch_rules("2.11.0");
  config.card.compute_capability_major = 9;
  tidemark::Run run(config);
  const auto head_rows = [&] {
    Tensor x = empty(run, Dims{2, 100, 8, 64}, Dtype::bf16);
    x.impl().requires_grad = true;
    return transpose(std::move(x), 1, 2);
  };
  const Tensor q = head_rows(), k = head_rows(), v = head_rows();
  Tensor bias = empty(run, Dims{2, 8, 100, 100}, Dtype::bf16);
  bias.impl().requires_grad = true;
  const Tensor other = neg(v), y = scaled_dot_product_attention(q, k, v, bias, {});
  Tensors gradients{empty(run, y.sizes(), y.dtype()), empty_like(other)};
  const std::size_t begin = run.ledger().size();
  backward(Tensors{y, other}, std::move(gradients));
  std::int64_t of_that_size = 0;
  for (std::size_t entry = begin; entry < run.ledger().size(); ++entry)
    of_that_size += run.ledger()[entry].requested_bytes == 2 * 100 * 8 * 64 * 2;
  EXPECT_EQ(of_that_size, 4 + 1);  // y's gradient with its heads last, those of q, k and v, and what neg gives v
}

}  // namespace
}  // namespace tidemark
