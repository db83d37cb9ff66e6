// Operations that copy: types, concatenation, padding.
#include "ops/memory_format.h"
#include "ops/ops.h"
#include "ops/selection.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// The part of a concatenation's gradient that belongs to input `index`.
Tensor part_of_gradient(Backward& call, std::size_t index) {
  const Edge& edge = call.node.edges[index];
  Layout layout = call.gradient().layout();
  layout.sizes = edge.node->outputs[static_cast<std::size_t>(edge.output)].sizes;
  return view_of(call.gradient(), layout);
}

/// The gradient of a cast names a device.  Where DTensor first works out what such a cast gives, one number is made
/// there.  torch: torch/_subclasses/fake_tensor.py, init_gpu_context (2.11.0)
void begin_distributed_cast(Run& run, bool distributed) {
  if (!distributed || !run.torch().fake_tensors_begin_on_device || std::exchange(run.has_fake_device, true)) return;
  empty(run, Dims{1}, Dtype::f32);
}

Tensors to_backward(Backward& call) {
  begin_distributed_cast(call.run, call.node.outputs[0].distributed);
  return {to(call.gradient(), call.facts.dtype)};
}

}  // namespace

Tensor to(Tensor x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  const Op op(x, "aten::to");
  Tensor y = empty_like(x, dtype);
  const Facts facts{.dtype = x.dtype()};
  if (!is_floating(dtype) || !is_floating(x.dtype())) return y;
  return record(std::move(y), {std::move(x)}, {.name = "ToCopyBackward0", .facts = facts, .backward = to_backward});
}

Tensor to_in_order(Tensor x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  if (x.is_contiguous()) return to(std::move(x), dtype);
  const Op op(x, "aten::to");
  Tensor y = empty(x.run(), x.sizes(), dtype);
  const Facts facts{.dtype = x.dtype()};
  return record(std::move(y), {std::move(x)}, {.name = "ToCopyBackward0", .facts = facts, .backward = to_backward});
}

Tensor to_device(Run& run, const Dims& sizes, Dtype dtype) {
  const Op op(run, "aten::to");
  Tensor y = empty(run, sizes, dtype);
  if (y.elements() > 0 && !run.on_host) run.stream_calls.host_waits();  // of pageable memory
  return y;
}

Tensor arange(Run& run, std::int64_t end, Dtype dtype) {
  const Op op(run, "aten::arange");
  return empty(run, Dims{end}, dtype);
}

Tensor zeros(Run& run, const Dims& sizes, Dtype dtype) {
  const Op op(run, "aten::zeros");
  return empty(run, sizes, dtype);
}

Tensor eye(Run& run, std::int64_t n, Dtype dtype) {
  const Op op(run, "aten::eye");
  return empty(run, Dims{n, n}, dtype);
}

Tensor full(Run& run, const Dims& sizes, Dtype dtype) {
  const Op op(run, "aten::full");
  return empty(run, sizes, dtype);
}

/// torch: native/Repeat.cpp, repeat_interleave_common and repeat_interleave_symint
Tensor repeated_places(Tensor repeats, std::int64_t total) {
  Run& run = repeats.run();
  const Tensor in_order = contiguous(repeats);
  const Tensor sums = cumsum(repeats, 0);
  if (run.torch().finds_least_repeat) {
    const Tensor least = max(repeats);
  } else {
    const Tensor not_negative = compare("aten::ge", repeats);
    const Tensor all = empty(run, Dims{}, Dtype::boolean);
  }
  return empty(run, Dims{total}, repeats.dtype());
}

Tensor repeat_interleave(Tensor x, Tensor repeats, std::int64_t total) {
  const Op op(x, "aten::repeat_interleave");
  TM_CHECK(!x.requires_grad(), "repeating by a tensor has no gradient here");
  const Tensor index = repeated_places(repeats, total);
  return empty(x.run(), Dims{total}, x.dtype());
}

/// torch: native/Repeat.cpp, repeat_interleave_symint
Tensor repeat_interleave(Tensor x, std::int64_t repeats, int d) {
  const Op op(x, "aten::repeat_interleave");
  Dims sizes = x.sizes(), repeated = sizes;
  const int at = sizes.at(d);
  repeated.insert(at + 1, repeats);
  sizes[at] *= repeats;
  return view(clone(expand(unsqueeze(std::move(x), at + 1), repeated)), sizes);
}

Tensor stack(const Tensors& parts, int d) {
  const Op op(parts[0], "aten::stack");
  Tensors rows;
  for (const Tensor& part : parts) rows.push_back(unsqueeze(part, d));
  return cat(std::move(rows), d);
}

/// The gradient of each part is a view of the result's.
/// Of the common type, that of tensors without elements included; their type is `also`.
Tensor cat(Tensors parts, int d, std::optional<Dtype> also) {
  const Op op(parts[0], "aten::cat");
  Dims sizes = parts[0].sizes();
  Dtype dtype = also.value_or(parts[0].dtype());
  sizes[d] = 0;
  for (const Tensor& part : parts) {
    sizes[d] += part.size(d);
    dtype = promote(dtype, part.dtype());
  }
  Tensor y = empty(parts[0].run(), cat_layout(parts, sizes), dtype);
  return record(std::move(y), std::move(parts), {.name = "CatBackward0", .backward = [](Backward& call) -> Tensors {
                                                   Tensors gradients(call.node.edges.size());
                                                   for (std::size_t i = 0; i < gradients.size(); ++i)
                                                     if (call.needs(i)) gradients[i] = part_of_gradient(call, i);
                                                   return gradients;
                                                 }});
}

Tensor pad(Tensor x, const Dims& widths) {
  const Op op(x, "aten::pad");
  Dims sizes = x.sizes();
  for (int i = 0; i < widths.count(); ++i) sizes[-1 - i / 2] += widths[i];
  const Facts facts{.sizes = x.sizes()};
  // a clone where nothing is added; else in the memory format that the strides suggest (2.15.0: constant_pad_nd)
  Tensor y = sizes == x.sizes() ? empty_like(x) : empty(x.run(), layout_like(x, sizes), x.dtype());
  return record(std::move(y), {std::move(x)},
                {.name = "ConstantPadNdBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   // constant_pad_nd with nothing to add: a copy of what is inside
                   Layout inside = call.gradient().layout();
                   inside.sizes = call.facts.sizes;
                   return {empty_like(view_of(call.gradient(), inside))};
                 }});
}

}  // namespace tidemark
