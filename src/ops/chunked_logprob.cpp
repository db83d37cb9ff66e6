#include "ops/chunked_logprob.h"

#include <algorithm>

#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

constexpr std::int64_t kTokens = 4096,
                       kWords = 32768;  // TOKEN_CHUNK_SIZE; trl: trainer/utils.py, _CHUNKED_LOGPROB_CHUNK_SIZE

Tensor rows_of(const Tensor& x, std::int64_t start, std::int64_t end) { return slice(x, 0, start, end); }

/// torch.mm and torch.addmm into memory that is there: (m, k) with (k, n).
void product_into(Run& run, Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  if (Work* work = run.counted())
    work->add_product(dtype, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k),
                      run.computes_backward());
  const Ref<Storage> workspace = matmul_workspace(run);
}

/// tile = tokens @ words.T + bias
void fill_tile(const Tensor& tokens, Tensor words, const Tensor& bias) {
  product_into(tokens.run(), tokens.dtype(), tokens.size(0), words.size(0), tokens.size(1));
  words.reset();
  if (bias) const Tensor cast = to(bias, tokens.dtype());
}

Tensor tile_for(const Tensor& hidden, Dtype dtype) {
  return empty(hidden.run(), Dims{std::min(hidden.size(0), kTokens), kWords}, dtype);
}

/// Goes over the tiles, whose memory and the last tokens are the frame's until the function returns.
void fold_tiles(const Tensor& hidden, const Tensor& weight, const Tensor& bias, Dtype computes, Tensors& frame) {
  const std::int64_t count = hidden.size(0), vocabulary = weight.size(0);
  frame.push_back(tile_for(hidden, computes));
  frame.push_back({});
  Tensor& tokens = frame[1];
  for (std::int64_t token = 0; token < count; token += kTokens) {
    tokens = to(rows_of(hidden, token, std::min(token + kTokens, count)), computes);
    for (std::int64_t word = 0; word < vocabulary; word += kWords) {
      const std::int64_t end = std::min(word + kWords, vocabulary);
      fill_tile(tokens, to(rows_of(weight, word, end), computes), bias ? rows_of(bias, word, end) : Tensor());
    }
  }
}

/// What is added up in fp32.
struct Sums {
  Tensor hidden, weight, bias;

  void add(const Tensor& tokens, const Tensor& words) const {
    const std::int64_t m = tokens.size(0), n = words.size(0), k = tokens.size(1);
    if (hidden) product_into(tokens.run(), tokens.dtype(), m, k, n);
    if (weight) product_into(tokens.run(), tokens.dtype(), n, k, m);
    if (bias) const Tensor of_tile = plain_sum(empty_tile(tokens, n), Dims{1, 0}, false, Dtype::f32);
  }

 private:
  /// For its layout alone: a part of the tile that is there.
  static Tensor empty_tile(const Tensor& tokens, std::int64_t n) {
    return view_of(tokens, {Dims{tokens.size(0), n}, Dims{kWords, 1}});
  }
};

Sums zeros_for(Backward& call, const Tensor& hidden, const Tensor& weight, const Tensor& bias) {
  const auto zeros_like = [&](std::size_t i, const Tensor& x) {
    return call.needs(i) ? zeros(call.run, x.sizes(), Dtype::f32) : Tensor();
  };
  Sums sums;
  sums.hidden = zeros_like(0, hidden);
  sums.weight = zeros_like(1, weight);
  if (bias) sums.bias = zeros_like(2, bias);
  return sums;
}

/// ChunkedLogProbFunction.backward; facts: the type that is computed in.
Tensors chunked_logprob_backward(Backward& call) {
  const Tensor &hidden = call.saved[0], &weight = call.saved[1], &bias = call.saved[2];
  const std::int64_t count = hidden.size(0), vocabulary = weight.size(0);
  const Dtype computes = call.facts.dtype;
  Tensors gradients;
  {
    const Sums sums = zeros_for(call, hidden, weight, bias);
    const Tensor tile = tile_for(hidden, computes);
    Tensor tokens, words;
    for (std::int64_t token = 0; token < count; token += kTokens) {
      tokens = to(rows_of(hidden, token, std::min(token + kTokens, count)), computes);
      for (std::int64_t word = 0; word < vocabulary; word += kWords) {
        const std::int64_t end = std::min(word + kWords, vocabulary);
        words = to(rows_of(weight, word, end), computes);
        fill_tile(tokens, words, bias ? rows_of(bias, word, end) : Tensor());
        sums.add(tokens, words);
      }
    }
    const auto as = [](const Tensor& sum, const Tensor& of) { return sum ? to(sum, of.dtype()) : Tensor(); };
    gradients.push_back(as(sums.hidden, hidden));
    gradients.push_back(as(sums.weight, weight));
    gradients.push_back(as(sums.bias, bias));
    gradients.push_back({});
  }
  if (call.run.torch().python_functions_let_go_of_gradients)
    for (Tensor& gradient : call.gradients) gradient.reset();
  return gradients;
}

/// ChunkedLogProbFunction.forward; `log_z` is kept besides.
TokenScores scores_of(const Tensor& hidden, const Tensor& weight, const Tensor& bias, Dtype computes,
                      const ScoreKinds& kinds, Tensor& log_z) {
  const Dims tokens{hidden.size(0)};
  const auto numbers = [&] { return empty(hidden.run(), tokens, Dtype::f32); };
  const Tensor largest = numbers(), sum_exp = numbers(), x_sum_exp = numbers(), squares = numbers(), sum = numbers(),
               largest_before = numbers(), target_logit = numbers();
  Tensors frame;
  fold_tiles(hidden, weight, bias, computes, frame);
  {
    const Tensor log = numbers();
    log_z = numbers();
  }
  TokenScores scores;
  scores.log_probs = numbers();
  if (kinds.entropy) {
    const Tensor mean = numbers();
    scores.entropy = numbers();
  }
  if (kinds.mean_logits) scores.mean_logits = numbers();
  if (!kinds.is_top1) return scores;
  const Tensor reaches = compare("aten::ge", target_logit), exceeds = compare("aten::gt", target_logit);
  scores.is_top1 = logical("aten::__and__", reaches, exceeds);
  return scores;
}

}  // namespace

TokenScores chunked_logprob(Tensor hidden, Tensor weight, Tensor bias, Tensor targets, const ScoreKinds& kinds) {
  const Op op(hidden, "ChunkedLogProbFunction");
  Run& run = hidden.run();
  const Dtype computes = run.autocast.enabled ? run.autocast.dtype : hidden.dtype();
  Tensor log_z;
  TokenScores scores;
  {
    const NoGrad no_grad(run);
    scores = scores_of(hidden, weight, bias, computes, kinds, log_z);
  }
  Tensors outputs{std::move(scores.log_probs)};
  if (scores.entropy) outputs.push_back(std::move(scores.entropy));
  Tensors saved{hidden, weight, bias, targets, log_z, kinds.entropy ? alias(outputs[1]) : log_z};
  log_z.reset();
  const Facts facts{.dtype = computes};
  record(outputs, {std::move(hidden), std::move(weight), std::move(bias), std::move(targets)},
         {.name = "ChunkedLogProbFunctionBackward",
          .saved = std::move(saved),
          .facts = facts,
          .backward = chunked_logprob_backward});
  scores.log_probs = std::move(outputs[0]);
  if (kinds.entropy) scores.entropy = std::move(outputs[1]);
  return scores;
}

}  // namespace tidemark
