// Views: another shape over the same memory.  torch: aten/src/ATen/native/TensorShape.cpp
#include "ops/memory_format.h"
#include "ops/ops.h"
#include "ops/pieces.h"
#include "tensor/mismatch.h"

namespace tidemark {
namespace {

/// Gradient of a view that only renames dimensions: the same memory, shown as before.
Tensors back_to_sizes(Backward& call) { return {reshape(call.gradient(), call.facts.sizes)}; }

/// Gradient of a part: zeros, with the part filled in.
Tensors fill_part(Backward& call) { return {empty(call.run, call.facts.sizes, call.gradient().dtype())}; }

/// Gradient of a split: the parts' gradients together, with zeros for those that have none.
Tensors join_parts(Backward& call) {
  const Dtype dtype = call.node.outputs[0].dtype;
  Tensors parts;
  for (std::size_t i = 0; i < call.gradients.size(); ++i)
    parts.push_back(call.gradients[i] ? call.gradients[i] : empty(call.run, call.node.outputs[i].sizes, dtype));
  return {empty(call.run, cat_layout(parts, call.facts.sizes), dtype)};
}

Tensor part_of(const Tensor& x, std::int64_t size, int d) {
  Layout layout = x.layout();
  layout.sizes[d] = size;
  return view_of(x, layout);
}

}  // namespace

Tensor view(Tensor x, const Dims& sizes) {
  const Dims wanted = infer_sizes(sizes, x.elements());
  const std::optional<Dims> strides = view_strides(x.layout(), wanted);
  check_match(strides.has_value(), "a view that needs a copy");
  Tensor y = view_of(x, {wanted, *strides});
  const Facts facts{.sizes = x.sizes()};
  return record(std::move(y), {std::move(x)}, {.name = "ViewBackward0", .facts = facts, .backward = back_to_sizes});
}

Tensor reshape(Tensor x, const Dims& sizes) {
  const Dims wanted = infer_sizes(sizes, x.elements());
  if (view_strides(x.layout(), wanted)) return view(std::move(x), wanted);
  return sole_view(view(clone(std::move(x)), wanted));
}

Tensor transpose(Tensor x, int a, int b) {
  Layout layout = x.layout();
  layout.sizes.swap(a, b);
  layout.strides.swap(a, b);
  Tensor y = view_of(x, layout);
  const Facts facts{.a = layout.sizes.at(a), .b = layout.sizes.at(b)};
  return record(std::move(y), {std::move(x)},
                {.name = "TransposeBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   return {transpose(call.gradient(), static_cast<int>(call.facts.a), static_cast<int>(call.facts.b))};
                 }});
}

Tensor permute(Tensor x, const Dims& order) {
  Layout layout = x.layout();
  Dims inverse = order;
  for (int d = 0; d < order.count(); ++d) {
    const int from = x.sizes().at(static_cast<int>(order[d]));
    layout.sizes[d] = x.size(from);
    layout.strides[d] = x.layout().strides[from];
    inverse[from] = d;
  }
  Tensor y = view_of(x, layout);
  return record(std::move(y), {std::move(x)},
                {.name = "PermuteBackward0", .facts = {.sizes = inverse}, .backward = [](Backward& call) -> Tensors {
                   return {permute(call.gradient(), call.facts.sizes)};
                 }});
}

Tensor unsqueeze(Tensor x, int d) {
  Layout layout = x.layout();
  const int where = d < 0 ? d + layout.sizes.count() + 1 : d;
  const bool last = where == layout.sizes.count();
  const std::int64_t stride = last ? 1 : layout.sizes[where] * layout.strides[where];
  layout.sizes.push_back(1);
  layout.strides.push_back(stride);
  for (int i = layout.sizes.count() - 1; i > where; --i) {
    layout.sizes.swap(i, i - 1);
    layout.strides.swap(i, i - 1);
  }
  Tensor y = view_of(x, layout);
  return record(std::move(y), {std::move(x)},
                {.name = "UnsqueezeBackward0", .facts = {.a = where}, .backward = [](Backward& call) -> Tensors {
                   return {squeeze(call.gradient(), static_cast<int>(call.facts.a))};
                 }});
}

Tensor squeeze(Tensor x, int d) {
  Layout layout = x.layout();
  const int where = layout.sizes.at(d);
  const bool goes = layout.sizes[where] == 1;
  if (goes) {
    layout.sizes.erase(where);
    layout.strides.erase(where);
  }
  Tensor y = view_of(x, layout);
  return record(
      std::move(y), {std::move(x)},
      {.name = "SqueezeBackward1", .facts = {.a = goes ? where : -1}, .backward = [](Backward& call) -> Tensors {
         if (call.facts.a < 0) return {call.gradient()};
         return {unsqueeze(call.gradient(), static_cast<int>(call.facts.a))};
       }});
}

Tensor expand(Tensor x, const Dims& sizes) {
  Layout layout{sizes, sizes};
  const int leading = sizes.count() - x.dims();
  for (int d = 0; d < sizes.count(); ++d) {
    const bool is_new = d < leading;
    if (!is_new && sizes[d] == -1) layout.sizes[d] = x.size(d - leading);
    const bool same = !is_new && x.size(d - leading) == layout.sizes[d];
    layout.strides[d] = same ? x.layout().strides[d - leading] : 0;
  }
  Tensor y = view_of(x, layout);
  const Facts facts{.sizes = x.sizes()};
  return record(std::move(y), {std::move(x)},
                {.name = "ExpandBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   return {plain_sum_to(call.gradient(), call.facts.sizes)};
                 }});
}

Tensor slice(Tensor x, int d, std::int64_t start, std::int64_t end) {
  Layout layout = x.layout();
  layout.sizes[d] = end - start;
  Tensor y = view_of(x, layout);
  const Facts facts{.sizes = x.sizes()};
  if (y.sizes() == x.sizes())  // indexing with a whole range: torch/csrc/autograd/python_variable_indexing
    return record(std::move(y), {std::move(x)},
                  {.name = "AliasBackward0", .backward = [](Backward& call) -> Tensors { return {call.gradient()}; }});
  return record(std::move(y), {std::move(x)}, {.name = "SliceBackward0", .facts = facts, .backward = fill_part});
}

Tensor slice_step(Tensor x, int d, std::int64_t start, std::int64_t end, std::int64_t step) {
  Layout layout = x.layout();
  layout.sizes[d] = (std::max(start, end) - start + step - 1) / step;
  layout.strides[d] *= step;
  Tensor y = view_of(x, layout);
  const Facts facts{.sizes = x.sizes()};
  return record(std::move(y), {std::move(x)}, {.name = "SliceBackward0", .facts = facts, .backward = fill_part});
}

Tensor select(Tensor x, int d, std::int64_t) {
  Layout layout = x.layout();
  layout.sizes.erase(d);
  layout.strides.erase(x.sizes().at(d));
  Tensor y = view_of(x, layout);
  const Facts facts{.sizes = x.sizes()};
  return record(std::move(y), {std::move(x)}, {.name = "SelectBackward0", .facts = facts, .backward = fill_part});
}

Tensors split(Tensor x, std::int64_t piece, int d) {
  Tensors parts;
  const std::int64_t whole = x.size(d);
  for (std::int64_t start = 0; start < whole; start += piece)
    parts.push_back(part_of(x, std::min(piece, whole - start), d));
  const Facts facts{.sizes = x.sizes()};
  record(parts, {std::move(x)}, {.name = "SplitBackward0", .facts = facts, .backward = join_parts});
  return parts;
}

Tensors split_sizes(Tensor x, const Dims& pieces, int d) {
  return split_sizes(std::move(x), std::span(pieces.begin(), pieces.end()), d);
}

Tensors split_sizes(Tensor x, std::span<const std::int64_t> pieces, int d) {
  Tensors parts;
  for (const std::int64_t piece : pieces) parts.push_back(part_of(x, piece, d));
  const Facts facts{.sizes = x.sizes()};
  record(parts, {std::move(x)}, {.name = "SplitWithSizesBackward0", .facts = facts, .backward = join_parts});
  return parts;
}

Tensors chunk(Tensor x, int parts, int d) {
  const std::int64_t piece = (x.size(d) + parts - 1) / parts;
  return split(std::move(x), piece, d);
}

Tensor contiguous(Tensor x) {
  if (x.is_contiguous()) return x;
  const Op op(x, "aten::contiguous");
  return clone(std::move(x));
}

/// In contiguous format.  torch: aten::clone
Tensor clone(Tensor x) {
  const Op op(x, "aten::clone");
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  return record(std::move(y), {std::move(x)},
                {.name = "CloneBackward0", .backward = [](Backward& call) -> Tensors { return {call.gradient()}; }});
}

Tensor detach(Tensor x) { return alias(x); }

}  // namespace tidemark
