#include "nn/masks.h"

namespace tidemark {
namespace {

/// What is to be built; `Pattern::all` is bidirectional attention.
enum class Pattern { causal, sliding_causal, all };

/// attention_mask.sum() == attention_mask.numel()
void fast_all(Tensor padding_mask) {
  const Tensor total = sum(std::move(padding_mask));
  const Tensor equal = compare("aten::eq", total);
  total.run().stream_calls.host_waits();
}

/// bool(attention_mask.all())
void tensor_all(const Tensor& padding_mask) {
  const Op op(padding_mask, "aten::all");
  const Tensor all = empty(padding_mask.run(), Dims{}, Dtype::boolean);
  all.run().stream_calls.host_waits();
}

/// sdpa_mask: whether the kernel's own causal pattern, or none, is enough.
bool is_skipped(const Context& context, Pattern pattern, const Tensor& padding_mask,
                std::optional<std::int64_t> window) {
  const std::int64_t length = padding_mask.size(-1);
  if (pattern == Pattern::all) {  // _ignore_bidirectional_mask_sdpa
    tensor_all(padding_mask);
    return !context.padding;
  }
  if (context.attention == AttentionKind::eager) return false;  // eager_mask
  if (window && length >= *window) return false;                // _ignore_causal_mask_sdpa
  fast_all(padding_mask);
  if (!context.padding) return true;
  fast_all(slice(padding_mask, 1, 0, length));
  return false;
}

struct Indices {
  Tensor batch, head, q, kv;
};

Tensor new_ones(Run& run) {
  const Op op(run, "aten::new_ones");
  return empty(run, Dims{}, Dtype::boolean);
}

Tensor both(Tensor result, Tensor condition) {
  return logical("aten::__and__", std::move(result), std::move(condition));
}

Tensor lower_or_equal(const Indices& at) { return logical("aten::le", at.kv, at.q); }

/// and_masks(sliding_window_overlay(window), causal_mask_function)
Tensor sliding(const Indices& at) {
  Tensor result = new_ones(at.q.run());
  Tensor after_start;
  {
    const Tensor start = add_scalar(at.q);
    after_start = logical("aten::gt", at.kv, start);
  }
  result = both(result, std::move(after_start));
  result = both(result, lower_or_equal(at));
  return result;
}

/// bidirectional_mask_function: q_idx >= 0
Tensor everywhere(const Indices& at) { return compare("aten::ge", at.q); }

/// padding_mask[batch_idx, kv_idx]: indices of one size, made contiguous.
Tensor gathered(const Indices& at, const Tensor& padding_mask) {
  const Op op(padding_mask, "aten::index");
  const Dims sizes = broadcast(at.batch.sizes(), at.kv.sizes());
  const Tensor batch = contiguous(expand(at.batch, sizes));
  const Tensor kv = contiguous(expand(at.kv, sizes));
  return empty(padding_mask.run(), sizes, Dtype::boolean);
}

Tensor pattern_mask(Pattern pattern, const Indices& at) {
  if (pattern == Pattern::sliding_causal) return sliding(at);
  return pattern == Pattern::causal ? lower_or_equal(at) : everywhere(at);
}

/// sdpa_mask from its aranges on.  (B, 1, S, S)
Tensor boolean_mask(Run& run, Pattern pattern, const Tensor& padding_mask) {
  const std::int64_t batch = padding_mask.size(0), length = padding_mask.size(1);
  const Tensor batch_arange = arange(run, batch), head_arange = arange(run, 1);
  const Tensor q_arange = add_scalar(arange(run, length));
  const Tensor kv_arange = add_scalar(arange(run, length));
  const auto along = [](const Tensor& x, int d) {
    Dims sizes{1, 1, 1, 1};
    sizes[d] = x.size(0);
    return view(x, sizes);
  };
  const Indices at{along(batch_arange, 0), along(head_arange, 1), along(q_arange, 2), along(kv_arange, 3)};
  Tensor result = new_ones(run);
  result = both(result, pattern_mask(pattern, at));
  result = both(result, gathered(at, padding_mask));
  return expand(std::move(result), {batch, -1, length, length});
}

/// torch.where(mask, torch.tensor(0.0), min_dtype)
Tensor additive_mask(Tensor mask, Dtype dtype) {
  Run& run = mask.run();
  const Tensor zero = to_device(run, Dims{}, dtype);
  const Op op(run, "aten::where");
  const Tensor minimum = empty(run, Dims{}, dtype);
  return empty(run, mask.sizes(), dtype);
}

Tensor make(const Context& context, Pattern pattern, const Tensor& inputs_embeds, const Tensor& attention_mask,
            std::optional<std::int64_t> window) {
  const NoGrad no_grad(attention_mask.run());
  const Tensor padding_mask = to(attention_mask, Dtype::boolean);
  if (is_skipped(context, pattern, padding_mask, window)) return {};
  Tensor mask = boolean_mask(attention_mask.run(), pattern, padding_mask);
  if (context.attention == AttentionKind::sdpa) return mask;
  return additive_mask(mask, inputs_embeds.dtype());
}

}  // namespace

Tensor create_causal_mask(const Context& context, const Tensor& inputs_embeds, const Tensor& attention_mask) {
  return make(context, Pattern::causal, inputs_embeds, attention_mask, {});
}

Tensor create_sliding_window_causal_mask(const Context& context, const Tensor& inputs_embeds,
                                         const Tensor& attention_mask, std::int64_t window) {
  return make(context, Pattern::sliding_causal, inputs_embeds, attention_mask, window);
}

Tensor create_bidirectional_mask(const Context& context, const Tensor& inputs_embeds, const Tensor& attention_mask) {
  return make(context, Pattern::all, inputs_embeds, attention_mask, {});
}

}  // namespace tidemark
