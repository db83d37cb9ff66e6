// torch: torch/csrc/autograd/variable.cpp, rebase_history; functions/tensor.cpp, CopySlices, CopyBackwards (2.11.0)
#include "ops/in_place.h"

#include "ops/ops.h"

namespace tidemark {
namespace {

/// Of what is written over: zeros.
Tensor zeros_of(Backward& call, const Dims& sizes) { return empty(call.run, sizes, call.gradient().dtype()); }

/// CopyBackwards of a whole tensor.
Tensors copy_backward(Backward& call) {
  Tensor self = call.needs(0) ? zeros_of(call, call.gradient().sizes()) : Tensor();
  return {self, call.needs(1) ? to(call.gradient(), call.facts.dtype) : Tensor()};
}

/// The base's gradient is copied, what belongs to the part is cloned for the source, and zeros go there where the part
/// had a gradient before.
Tensors copy_slices(Backward& call) {
  Tensor base = zeros_of(call, call.gradient().sizes());
  const Tensor part = zeros_of(call, call.facts.sizes);
  const Tensor zeros = call.facts.a != 0 ? zeros_of(call, call.facts.sizes) : Tensor();
  const bool has_source = call.node.edges.size() > 1;
  Tensor source = has_source && call.needs(1) ? to(part, call.facts.dtype) : Tensor();
  if (!has_source) return {base};
  return {call.needs(0) ? base : Tensor(), source};
}

/// Of a part that is used after it was written to.  torch: as_strided_backward of parts that do not overlap
Tensors show_part(Backward& call) { return {zeros_of(call, call.facts.sizes)}; }

/// What was copied into a part.
Tensor copied_into(Tensor view, Tensors inputs, Facts facts) {
  facts.sizes = view.sizes();
  facts.a = view.requires_grad() ? 1 : 0;
  return rebased(std::move(view), std::move(inputs), {.name = "CopySlices", .facts = facts, .backward = copy_slices});
}

}  // namespace

Tensor rebased(Tensor view, Tensors inputs, Record what) {
  Tensor base = view.impl().base;
  record(base, std::move(inputs), std::move(what));
  const Facts whole{.sizes = base.sizes()};
  return record(std::move(view), {std::move(base)},
                {.name = "AsStridedBackward0", .facts = whole, .backward = show_part});
}

Tensor copy_(Tensor x, Tensor source) {
  const Op op(x, "aten::copy_");
  ++x.impl().storage->version;
  if (!needs_grad(x) && !needs_grad(source)) return x;
  const Facts facts{.dtype = source.dtype()};
  if (const Tensor base = x.impl().base) return copied_into(std::move(x), {base, std::move(source)}, facts);
  Tensor y = x;
  return record(std::move(y), {std::move(x), std::move(source)},
                {.name = "CopyBackwards", .facts = facts, .backward = copy_backward});
}

Tensor add_into(Tensor x, Tensor source) {
  const Tensor base = x.impl().base;
  if (!base || (!needs_grad(x) && !needs_grad(base) && !needs_grad(source)))
    return add_(std::move(x), std::move(source));
  const Op op(x, "aten::add_");
  ++x.impl().storage->version;
  const Facts facts{.sizes = x.sizes(), .dtype = x.dtype()};  // both have the gradient of the part as it is
  return rebased(std::move(x), {base, std::move(source)},
                 {.name = "CopySlices", .facts = facts, .backward = copy_slices});
}

/// The part's gradient is cloned, and copied with zeros under the mask: as if the part had a gradient before.
Tensor masked_fill_part(Tensor view, Tensor mask) {
  const Facts part{.sizes = view.sizes(), .a = 1};
  const Tensor base = view.impl().base;
  Tensors saved{std::move(mask)};
  return rebased(std::move(view), {base},
                 {.name = "CopySlices", .saved = std::move(saved), .facts = part, .backward = copy_slices});
}

/// The gradient of what was there is zeros.
Tensor fill_(Tensor x) {
  const Op op(x, "aten::fill_");
  ++x.impl().storage->version;
  const Tensor base = x.impl().base;
  if (base && (needs_grad(x) || needs_grad(base))) return copied_into(std::move(x), {base}, {});
  Tensor y = x;
  return record(std::move(y), {std::move(x)}, {.name = "FillBackward0", .backward = [](Backward& call) -> Tensors {
                                                 return {empty_like(call.gradient())};
                                               }});
}

Tensor scale_(Tensor x) {
  const Tensor base = x.impl().base;
  if (base && (needs_grad(x) || needs_grad(base))) {
    const Op op(x, "aten::mul_");
    ++x.impl().storage->version;
    const Facts facts{.sizes = x.sizes(), .a = 1};  // what the part is multiplied to lies where its zeros would
    return rebased(std::move(x), {base}, {.name = "CopySlices", .facts = facts, .backward = copy_slices});
  }
  Tensor y = x;
  return record(std::move(y), {std::move(x)}, {.name = "MulBackward0", .backward = [](Backward& call) -> Tensors {
                                                 return {mul_scalar(call.gradient())};
                                               }});
}

}  // namespace tidemark
