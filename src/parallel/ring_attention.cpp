#include "parallel/ring_attention.h"

#include "base/error.h"
#include "ops/attention.h"
#include "parallel/redistribute.h"
#include "parallel/ring_rotation.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

constexpr int kTokens = 2;  // the dimension of q, k and v that is shared

/// _is_causal_behavior: whether the queries of this GPU see any of the keys that have come to it.
bool is_skipped(const Ring& ring, std::int64_t turn) { return !ring.load_balance && turn > ring.rank; }

/// With a chunk from either end: keys from before see all queries, but their later half sees none; those from behind
/// are seen by the later half of the queries alone.
enum class Halves : std::uint8_t { none, of_keys, of_queries };

Halves halves(const Ring& ring, std::int64_t turn) {
  if (turn == 0 || !ring.load_balance) return Halves::none;
  return turn <= ring.rank ? Halves::of_keys : Halves::of_queries;
}

Tensor half(const Tensor& x, std::size_t which) { return chunk(x, 2, kTokens)[which]; }

/// _SDPAMerger: the attention to one GPU's keys after another, in float32.
class Merger {
 public:
  void step(const Tensor& output, const Tensor& log_sum_exp, bool partial) {
    const Tensor out = to(output, Dtype::f32);
    const bool same_dims = log_sum_exp.dims() == output.dims();  // cuDNN's has one dimension more
    merge(out, same_dims ? log_sum_exp : unsqueeze(log_sum_exp, log_sum_exp.dims()), partial);
    dtype_ = output.dtype();
    squeezes_ = !same_dims;
  }

  Tensor output() const { return to(out_, dtype_); }
  Tensor log_sum_exp() const { return squeezes_ ? squeeze(lse_, lse_.dims() - 1) : lse_; }

 private:
  void merge(const Tensor& block_out, const Tensor& block_lse, bool partial) {
    if (!lse_) {
      lse_ = block_lse;
      out_ = block_out;
      return;
    }
    Tensor lse = partial ? half(lse_, 1) : lse_, out = partial ? half(out_, 1) : out_;
    const auto weighted = [&] {
      const Tensor weight = sigmoid(sub(block_lse, lse));
      const Tensor difference = sub(out, block_out);
      return mul(weight, difference);
    };
    out = sub(out, weighted());
    lse = sub(lse, log_sigmoid(sub(lse, block_lse)));
    lse_ = partial ? with_half_updated(lse_) : lse;
    out_ = partial ? with_half_updated(out_) : out;
  }

  Tensor out_, lse_;
  Dtype dtype_ = Dtype::f32;
  bool squeezes_ = false;
};

AttentionResult kernel_forward(AttentionBackend backend, const AttentionInputs& in) {
  switch (backend) {
    case AttentionBackend::cudnn: return cudnn_attention_forward(in, true);
    case AttentionBackend::flash: return flash_attention_forward(in);
    default: return efficient_attention_forward(in, true);
  }
}

std::array<Tensor, 3> kernel_backward(AttentionBackend backend, const AttentionGradient& call) {
  switch (backend) {
    case AttentionBackend::cudnn: return cudnn_attention_backward(call);
    case AttentionBackend::flash: return flash_attention_backward(call);
    default: return efficient_attention_backward(call);
  }
}

/// _templated_ring_attention; locals are the reference's.
AttentionResult ring_forward(const Ring& ring, AttentionBackend backend, const AttentionInputs& in) {
  Tensor key = contiguous(in.k), value = contiguous(in.v), next_kv;
  AttentionInputs part{.q = {}, .k = {}, .v = {}, .mask = {}, .options = in.options};
  AttentionResult result;
  Tensors saved_rest;
  Merger merger;
  RingRotation rotation(ring, ring.rotate_method);
  for (std::int64_t turn = 0; turn < ring.ranks; ++turn) {
    if (turn > 0) {
      next_kv = rotation.next_buffer();
      key = first_of(next_kv, key);
      value = second_of(next_kv, key, value);
    }
    if (turn + 1 < ring.ranks) {
      next_kv = flat_pair(key, value);
      rotation.exchange_buffers(next_kv);
      next_kv.reset();
    }
    if (is_skipped(ring, turn)) continue;
    const Halves now = halves(ring, turn);
    part.q = now == Halves::of_queries ? half(in.q, 1) : in.q;
    part.k = now == Halves::of_keys ? half(key, 0) : key;
    part.v = now == Halves::of_keys ? half(value, 0) : value;
    result = kernel_forward(backend, part);
    if (turn == 0 || !in.q.run().torch().ring_keeps_first_random_state) saved_rest = result.random_state;
    merger.step(result.output, result.log_sum_exp, now == Halves::of_queries);
  }
  return {merger.output(), merger.log_sum_exp(), saved_rest};
}

/// _templated_ring_attention_backward, likewise
std::array<Tensor, 3> ring_backward(const Ring& ring, AttentionBackend backend, const AttentionGradient& call,
                                    const Tensor& log_sum_exp) {
  const Tensor &query = call.q, &out = call.output, &grad_out = call.gradient;
  const auto zeros_like = [](const Tensor& x) { return empty_like(x, Dtype::f32); };
  Tensor grad_query = zeros_like(query), grad_key = zeros_like(call.k), grad_value = zeros_like(call.v);
  Tensor key = contiguous(call.k), value = contiguous(call.v), next_kv, next_grad_kv, buffer;
  Tensor q, k, v, out_half, grad_out_half, lse;
  std::array<Tensor, 3> gradients;
  RingRotation kv_rotation(ring, ring.rotate_method), dkv_rotation(ring, RotateMethod::alltoall);
  for (std::int64_t turn = 0; turn < ring.ranks; ++turn) {
    if (turn > 0) {
      buffer = kv_rotation.next_buffer();
      key = first_of(buffer, key);
      value = second_of(buffer, key, value);
    }
    if (turn + 1 < ring.ranks) {
      next_kv = flat_pair(key, value);
      kv_rotation.exchange_buffers(next_kv);
    }
    const Halves now = halves(ring, turn);
    if (is_skipped(ring, turn)) {
      gradients[0] = zeros_like(query);
      gradients[1] = zeros_like(key);
      gradients[2] = zeros_like(value);
    } else {
      const bool of_queries = now == Halves::of_queries, of_keys = now == Halves::of_keys;
      lse = of_queries ? contiguous(half(log_sum_exp, 1)) : log_sum_exp;
      q = of_queries ? half(query, 1) : query;
      k = of_keys ? half(key, 0) : key;
      v = of_keys ? half(value, 0) : value;
      out_half = of_queries ? half(out, 1) : out;
      grad_out_half = of_queries ? half(grad_out, 1) : grad_out;
      gradients = kernel_backward(backend, {grad_out_half, q, k, v, out_half, call.dropout});
    }
    if (turn > 0) {
      next_grad_kv = dkv_rotation.next_buffer();
      grad_key = first_of(next_grad_kv, grad_key);
      grad_value = second_of(next_grad_kv, grad_key, grad_value);
      if (now == Halves::of_keys) {
        grad_key = with_half_updated(grad_key);
        grad_value = with_half_updated(grad_value);
      }
    }
    next_grad_kv = flat_pair(grad_key, grad_value);
    dkv_rotation.exchange_buffers(next_grad_kv);
    if (now == Halves::of_queries) grad_query = with_half_updated(grad_query);
  }
  grad_query = to(grad_query, query.dtype());
  next_grad_kv = to(dkv_rotation.next_buffer(), key.dtype());
  grad_key = first_of(next_grad_kv, grad_key);
  grad_value = second_of(next_grad_kv, grad_key, grad_value);
  return {grad_query, grad_key, grad_value};
}

Facts facts_of(const Ring& ring, AttentionBackend backend, bool dropout) {
  return {.sizes = {ring.ranks, ring.rank},
          .a = static_cast<std::int64_t>(backend) * 2 + (dropout ? 1 : 0),
          .b = ring.load_balance ? 1 : 0,
          .c = static_cast<std::int64_t>(ring.rotate_method)};
}

Tensors backward_of_ring(Backward& call) {
  const Facts& facts = call.facts;
  const Ring ring{facts.sizes[0], facts.sizes[1], facts.b == 1, static_cast<RotateMethod>(facts.c)};
  const Tensor gradient = alias(call.gradient()), q = alias(call.saved[0]), k = alias(call.saved[1]),
               v = alias(call.saved[2]);
  return needed(call, ring_backward(ring, static_cast<AttentionBackend>(facts.a / 2),
                                    {gradient, q, k, v, call.saved[3], facts.a % 2 == 1}, call.saved[4]));
}

const char* node_name(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::cudnn: return "ScaledDotProductCudnnAttentionBackward0";
    case AttentionBackend::flash: return "ScaledDotProductFlashAttentionBackward0";
    default: return "ScaledDotProductEfficientAttentionBackward0";
  }
}

/// The kernel that PyTorch takes, if it is one that goes round.  torch: _sdpa_handler
AttentionBackend ring_backend(const Ring& ring, const AttentionInputs& in) {
  const AttentionBackend backend = attention_backend(in);
  if (backend == AttentionBackend::math)
    throw Error(Errc::unsupported, "context_parallel knows no attention by PyTorch's math kernel", "cp",
                "which it takes in fp32 where heads are grouped: say bf16, or autocast");
  if (in.q.size(-1) % 8 != 0)
    throw Error(Errc::unsupported, "heads whose size is no multiple of 8 are not known under context parallelism",
                "cp");
  const std::int64_t rows = in.q.size(kTokens) / (ring.load_balance && ring.ranks > 1 ? 2 : 1);
  if (backend == AttentionBackend::efficient && ring.ranks > 1 && rows % 32 != 0)
    throw Error(Errc::bad_value,
                "memory-efficient attention goes round in pieces of 32 tokens; torch fails with others", "seq",
                "a multiple of 32 for each GPU, and with load_balance of 64");
  return backend;
}

}  // namespace

Tensor ring_attention(const Ring& ring, Tensor q, Tensor k, Tensor v, const Tensor& mask,
                      const AttentionOptions& options) {
  if (mask)
    throw Error(Errc::unsupported, "context_parallel takes no attention mask", "cp",
                "without padding, and where layers see more than a window, the causal kernel needs none");
  if (!options.causal && ring.load_balance)
    throw Error(Errc::bad_value, "torch balances the load of causal attention alone", "cp.load_balance");
  Run& run = q.run();
  const Op op(run, "aten::scaled_dot_product_attention");
  const Tensor arguments[] = {q, k, v};
  const Mesh mesh{ring.ranks, ring.rank};
  const Placement tokens = Placement::split(kTokens);
  AttentionInputs in{.q = {}, .k = {}, .v = {}, .mask = {}, .options = options};
  in.q = from_local(q, tokens, tokens, mesh);
  in.k = from_local(k, tokens, tokens, mesh);
  in.v = from_local(v, tokens, tokens, mesh);
  const AttentionInputs parts = in;
  in.v = autocast_low(in.v);
  in.k = autocast_low(in.k);
  in.q = autocast_low(in.q);
  const AttentionBackend backend = ring_backend(ring, in);
  AttentionResult result;
  {
    const NoGrad no_grad(run);
    const Setting<bool> no_autocast(run.autocast.enabled, false);
    result = ring_forward(ring, backend, {alias(in.q), alias(in.k), alias(in.v), {}, options});
  }
  Tensors saved{in.q, in.k, in.v, alias(result.output), result.log_sum_exp};
  for (Tensor& state : result.random_state) saved.push_back(std::move(state));
  const Facts facts = facts_of(ring, backend, options.dropout != 0);
  const Tensor output = record(std::move(result.output), {in.q, in.k, in.v},
                               {.name = node_name(backend),
                                .saved = std::move(saved),
                                .facts = facts,
                                .backward = backward_of_ring,
                                .distributed = true});
  return to_local(output);
}

}  // namespace tidemark
