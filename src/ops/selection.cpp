// torch: aten/src/ATen/native/TensorAdvancedIndexing.cpp, TensorCompare.cpp, ReduceOps.cpp, TriangularOps.cpp;
// torch/csrc/autograd/FunctionsManual.cpp for gradients (2.11.0)
#include "ops/selection.h"

#include "ops/ops.h"
#include "ops/pointwise.h"

namespace tidemark {
namespace {

Tensor copy_of(const Tensor& x) { return empty(x.run(), x.sizes(), x.dtype()); }

Dims only(const Tensor& x, int d) {
  Dims reduced = x.sizes();
  for (int i = 0; i < reduced.count(); ++i) reduced[i] = 0;
  reduced[d] = 1;
  return reduced;
}

/// grad.new_zeros(sizes), into which the gradient goes.
Tensors zeros_for(Backward& call) { return {empty(call.run, call.facts.sizes, call.gradient().dtype())}; }

/// The gradient and the result as they were before the dimension went.
Tensor restored(const Facts& facts, Tensor x) {
  return facts.b != 0 ? x : unsqueeze(std::move(x), static_cast<int>(facts.a));
}

/// A bit for each dimension that is marked.
std::int64_t marked(const Dims& dims) {
  std::int64_t bits = 0;
  for (int d = 0; d < dims.count(); ++d) bits |= dims[d] << d;
  return bits;
}

}  // namespace

/// Keeps both.
Tensor gather(Tensor x, int, Tensor index) {
  const Op op(x, "aten::gather");
  Tensor y = empty(x.run(), index.sizes(), x.dtype());
  const Facts facts{.sizes = x.sizes()};
  Tensors saved{x, std::move(index)};
  return record(std::move(y), {std::move(x)},
                {.name = "GatherBackward0", .saved = std::move(saved), .facts = facts, .backward = zeros_for});
}

Tensor index_select(Tensor x, int d, Tensor index) {
  const Op op(x, "aten::index_select");
  Dims sizes = x.sizes();
  sizes[d] = index.elements();
  Tensor y = empty(x.run(), sizes, x.dtype());
  const Facts facts{.sizes = x.sizes()};
  Tensors saved{std::move(index)};
  return record(std::move(y), {std::move(x)},
                {.name = "IndexSelectBackward0", .saved = std::move(saved), .facts = facts, .backward = zeros_for});
}

/// Operands of two types are made one, after the result is there.  torch: cuda/Bucketization.cu, searchsorted_out_cuda;
/// BucketizationUtils.h, searchsorted_maybe_trim_input_tensors
Tensor bucketize(Tensor x, Tensor boundaries) {
  const Op op(x, "aten::bucketize");
  Tensor y = empty(x.run(), x.sizes(), Dtype::int64);
  const Dtype common = promote(x.dtype(), boundaries.dtype());
  const Tensor ours = contiguous(detach(x)), same = to(ours, common), bounds = to(detach(boundaries), common);
  return y;
}

namespace {

/// grad.scatter(dim, index, 0)
Tensors scatter_number_backward(Backward& call) { return {copy_of(call.gradient())}; }

/// grad.scatter(dim, index, 0) and grad.gather(dim, index)
Tensors scatter_backward(Backward& call) {
  Tensor self = call.needs(0) ? copy_of(call.gradient()) : Tensor();
  return {self, call.needs(1) ? empty(call.run, call.saved[0].sizes(), call.gradient().dtype()) : Tensor()};
}

}  // namespace

Tensor scatter_number(Tensor x, Tensor indices) {
  const Op op(x, "aten::scatter");
  Tensor y = copy_of(x);
  Tensors saved{std::move(indices)};
  return record(std::move(y), {std::move(x)},
                {.name = "ScatterBackward1", .saved = std::move(saved), .backward = scatter_number_backward});
}

Tensor scatter_number_(Tensor x, Tensor indices) {
  Tensor y = x;
  Tensors saved{std::move(indices)};
  return record(std::move(y), {std::move(x)},
                {.name = "ScatterBackward1", .saved = std::move(saved), .backward = scatter_number_backward});
}

Tensor scatter(Tensor x, int, Tensor indices, Tensor source) {
  const Op op(x, "aten::scatter");
  Tensor y = copy_of(x);
  Tensors saved{std::move(indices)};
  return record(std::move(y), {std::move(x), std::move(source)},
                {.name = "ScatterBackward0", .saved = std::move(saved), .backward = scatter_backward});
}

Tensor scatter_(Tensor x, int, Tensor indices, Tensor source) {
  Tensor y = x;
  Tensors saved{std::move(indices)};
  return record(std::move(y), {std::move(x), std::move(source)},
                {.name = "ScatterBackward0", .saved = std::move(saved), .backward = scatter_backward});
}

Tensor scatter_reduce(Tensor x, Tensor, Tensor) {
  const Op op(x, "aten::scatter_reduce");
  return copy_of(x);
}

/// Keeps the places.  torch: native/TensorCompare.cpp, max_out_impl
std::array<Tensor, 2> extreme(const char* name, const char* backward, Tensor x, int d, bool keep_dims) {
  const Op op(x, name);
  Dims sizes = x.sizes();
  if (keep_dims)
    sizes[d] = 1;
  else
    sizes.erase(d);
  Tensor values = empty(x.run(), sizes, x.dtype()), places = empty(x.run(), sizes, Dtype::int64);
  const Facts facts{.sizes = x.sizes()};
  Tensors saved{places};
  values = record(std::move(values), {std::move(x)},
                  {.name = backward, .saved = std::move(saved), .facts = facts, .backward = zeros_for});
  return {std::move(values), std::move(places)};
}

/// Keeps both.  torch: FunctionsManual.cpp, scale_grad_by_count: (grad / mask.sum(dims, true)) * mask
Tensor amax(Tensor x, int d, bool keep_dims) {
  const Op op(x, "aten::amax");
  const int at = x.sizes().at(d);
  Tensor y = plain_sum(x, only(x, d), keep_dims, x.dtype());
  Tensors saved{x, alias(y)};
  const Facts facts{.sizes = x.sizes(), .a = at, .b = keep_dims ? 1 : 0};
  return record(
      std::move(y), {std::move(x)},
      {.name = "AmaxBackward0", .saved = std::move(saved), .facts = facts, .backward = [](Backward& call) -> Tensors {
         const Tensor gradient = restored(call.facts, call.gradient());
         const Tensor result = restored(call.facts, call.saved[1]);
         const Tensor mask = logical("aten::eq", result, call.saved[0]);
         const Tensor count = sum(mask, Dims{call.facts.a}, true);
         const Tensor shared = div(gradient, count);
         return {mul(shared, mask)};
       }});
}

/// Keeps both.  torch: native/ReduceOps.cpp, logsumexp_out_impl; FunctionsManual.cpp, logsumexp_backward
Tensor logsumexp(Tensor x, int d, bool keep_dims) {
  const Op op(x, "aten::logsumexp");
  const Tensor argument = x;
  x = autocast_f32(std::move(x));
  const int at = x.sizes().at(d);
  Dims sizes = x.sizes();
  if (keep_dims)
    sizes[d] = 1;
  else
    sizes.erase(d);
  const auto summed = [&] {
    const NoGrad no_grad(x.run());
    const Tensor largest = plain_sum(x, only(x, d), true, x.dtype());
    {
      const Tensor magnitude = empty_like(largest);
      const Tensor is_infinite = compare("aten::eq", magnitude);
    }
    const Tensor powers = sub(x, largest);  // exp_ in place
    return empty(x.run(), sizes, x.dtype());
  };
  Tensor y = summed();
  Tensors saved{x, alias(y)};
  const Facts facts{.sizes = x.sizes(), .a = at, .b = keep_dims ? 1 : 0};
  return record(std::move(y), {std::move(x)},
                {.name = "LogsumexpBackward0",
                 .saved = std::move(saved),
                 .facts = facts,
                 .backward = [](Backward& call) -> Tensors {
                   const Tensor gradient = restored(call.facts, call.gradient());
                   const Tensor result = restored(call.facts, call.saved[1]);
                   const Tensor shifted = sub(call.saved[0], result);
                   const Tensor powers = empty_like(shifted);
                   return {mul(gradient, powers)};
                 }});
}

/// The gradient is the same triangle of the gradient.
Tensor triangle(const char* name, const char* backward, Tensor x) {
  const Op op(x, name);
  Tensor y = copy_of(x);
  return record(std::move(y), {std::move(x)},
                {.name = backward, .backward = [](Backward& call) -> Tensors { return {copy_of(call.gradient())}; }});
}

Tensors unbind(Tensor x, int d) {
  Tensors parts;
  Layout layout = x.layout();
  const int at = layout.sizes.at(d);
  layout.sizes.erase(at);
  layout.strides.erase(at);
  for (std::int64_t i = 0; i < x.size(at); ++i) parts.push_back(view_of(x, layout));
  const Facts facts{.sizes = x.sizes()};
  record(parts, {std::move(x)}, {.name = "UnbindBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                                   Tensors zeros;  // in place of gradients that did not come
                                   for (const Tensor& gradient : call.gradients)
                                     if (!gradient)
                                       zeros.push_back(empty(call.run, Dims{}, call.node.outputs[0].dtype));
                                   return {empty(call.run, call.facts.sizes, call.node.outputs[0].dtype)};
                                 }});
  return parts;
}

/// torch: native/TensorShape.cpp, repeat; FunctionsManual.cpp, repeat_backward: the sum over what was repeated
Tensor repeat(Tensor x, const Dims& times) {
  const Op op(x, "aten::repeat");
  Dims sizes = times, split, summed;
  const int leading = times.count() - x.dims();
  for (int d = 0; d < times.count(); ++d) {
    const std::int64_t own = d < leading ? 1 : x.size(d - leading);
    sizes[d] = times[d] * own;
    if (d < leading) continue;
    if (times[d] != 1 && own != 1) split.push_back(times[d]), summed.push_back(1);
    split.push_back(own == 1 ? times[d] : own);
    summed.push_back(times[d] != 1 && own == 1 ? 1 : 0);
  }
  Tensor y = empty(x.run(), sizes, x.dtype());
  const Facts facts{.sizes = split, .a = marked(summed), .b = std::max(leading, 0)};
  return record(std::move(y), {std::move(x)},
                {.name = "RepeatBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   Tensor gradient = call.gradient();
                   for (std::int64_t i = 0; i < call.facts.b; ++i)
                     gradient = plain_sum(gradient, only(gradient, 0), false, gradient.dtype());
                   if (call.facts.a == 0) return {gradient};
                   const Edge& edge = call.node.edges[0];
                   const Dims before = edge.node->outputs[static_cast<std::size_t>(edge.output)].sizes;
                   gradient = reshape(gradient, call.facts.sizes);
                   Dims reduced = call.facts.sizes;
                   for (int d = 0; d < reduced.count(); ++d) reduced[d] = call.facts.a >> d & 1;
                   return {reshape(plain_sum(gradient, reduced, false, gradient.dtype()), before)};
                 }});
}

Tensor slice_all(Tensor x) {
  Tensor y = view_of(x, x.layout());
  const Facts facts{.sizes = x.sizes()};
  return record(std::move(y), {std::move(x)}, {.name = "SliceBackward0", .facts = facts, .backward = zeros_for});
}

Tensor flip(Tensor x) {
  const Op op(x, "aten::flip");
  Tensor y = empty_like(x);
  return record(std::move(y), {std::move(x)}, {.name = "FlipBackward0", .backward = [](Backward& call) -> Tensors {
                                                 return {empty_like(call.gradient())};
                                               }});
}

namespace {

/// Along one dimension after the other, of which each is there until all are.  torch: native/TensorTransformations.h,
/// roll_common
Tensor rolled(const Tensor& x, std::int64_t dimensions) {
  const auto once = [&] {
    const Tensor in_order = x.is_contiguous() ? Tensor() : copy_of(x);
    return copy_of(x);
  };
  Tensor y = once();
  return dimensions > 1 ? rolled(y, dimensions - 1) : y;
}

}  // namespace

/// The shifts do not change what is allocated.  Without dimensions the flattened tensor is rolled once.
Tensor roll(Tensor x, const Dims&, const Dims& dims) {
  const Op op(x, "aten::roll");
  const Facts facts{.a = std::max(dims.count(), 1)};
  Tensor y = rolled(x, facts.a);
  return record(std::move(y), {std::move(x)},
                {.name = "RollBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   const Op backward_op(call.gradient(), "aten::roll");
                   return {rolled(call.gradient(), call.facts.a)};
                 }});
}

}  // namespace tidemark
