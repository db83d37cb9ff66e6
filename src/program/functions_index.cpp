// x[…], and what reads or writes by indices.
#include <algorithm>

#include "ops/in_place.h"
#include "ops/selection.h"
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

std::int64_t bound(const FunctionCall& call, const Argument& at, std::int64_t usual, std::int64_t size) {
  if (at.kind == Argument::Kind::none) return usual;
  const std::int64_t given = call.integer_of(at);
  return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
}

Tensor sliced(const FunctionCall& call, Tensor x, int d, const Argument& range) {
  const std::int64_t size = x.size(d);
  const std::int64_t start = bound(call, range.items[0], 0, size), end = bound(call, range.items[1], size, size);
  const std::int64_t step = range.items[2].kind == Argument::Kind::none ? 1 : call.integer_of(range.items[2]);
  if (step != 1) {
    call.require(step > 1 && d == x.dims() - 1 && end == size, "such a step");
    return slice_step(std::move(x), start, step);
  }
  if (start == 0 && end == size) return x;
  return slice(std::move(x), d, start, std::max(start, end));
}

/// One index or two for the first dimensions, and nothing else.
Tensors gathered(const FunctionCall& call, const std::vector<Argument>& items) {
  const auto tensor = [&](std::size_t i) {
    Tensor index = call.tensor_of(items[i]);
    call.require(index.dtype() != Dtype::boolean, "a mask");
    return index;
  };
  call.require(items.size() <= 2, "more than two tensors");
  if (items.size() == 1) return {index_rows(call.tensor(0), tensor(0))};
  call.require(items[1].kind == items[0].kind, "tensors and other things");
  return {index_pairs(call.tensor(0), tensor(0), tensor(1))};
}

/// Ranges, numbers, None and `...`, one after the other; x itself where they take all of it.
Tensor shown(const FunctionCall& call, const Tensor& x, const std::vector<Argument>& items) {
  const auto used = [](const Argument& item) {
    return item.kind == Argument::Kind::slice || item.kind == Argument::Kind::number;
  };
  const auto uses = static_cast<int>(std::count_if(items.begin(), items.end(), used));
  call.require(uses <= x.dims(), "more indices than dimensions");
  Tensor result = x;
  int d = 0;
  for (const Argument& item : items) {
    switch (item.kind) {
      case Argument::Kind::ellipsis: d += x.dims() - uses; break;
      case Argument::Kind::none: result = unsqueeze(std::move(result), d++); break;
      case Argument::Kind::number: result = select(std::move(result), d, call.integer_of(item)); break;
      case Argument::Kind::slice:
        result = sliced(call, std::move(result), d, item);
        ++d;
        break;
      default: call.refuse("such an index");
    }
  }
  return result;
}

std::vector<Argument> items_of(const Argument& index) {
  return index.kind == Argument::Kind::list ? index.items : std::vector<Argument>{index};
}

/// torch: csrc/autograd/python_variable_indexing.cpp, THPVariable_getitem
Tensors getitem_call(FunctionCall& call) {
  const std::vector<Argument> items = items_of(call.argument(1));
  if (!items.empty() && items[0].kind == Argument::Kind::value) return gathered(call, items);
  const Tensor x = call.tensor(0);
  Tensor result = shown(call, x, items);
  return {result.is(x) && x.dims() > 0 ? slice(x, 0, 0, x.size(0)) : std::move(result)};
}

/// x[index] = value.  torch: ATen/TensorIndexing.h, copy_to; native/TensorAdvancedIndexing.cpp, index_put_: a number
/// under a mask is masked_fill_, and indices take no memory where nothing has a gradient.
Tensors setitem_call(FunctionCall& call) {
  const std::vector<Argument> items = items_of(call.argument(1));
  const auto is_tensor = [](const Argument& item) { return item.kind == Argument::Kind::value; };
  const Tensor x = call.tensor(0);
  if (std::none_of(items.begin(), items.end(), is_tensor)) {
    Tensor part = shown(call, x, items);
    if (!call.is_tensor(2)) return fill_(std::move(part)), Tensors(0);
    Tensor value = call.tensor(2);
    if (value.sizes() != part.sizes()) value = expand(std::move(value), part.sizes());
    return copy_(std::move(part), std::move(value)), Tensors(0);
  }
  const bool is_mask = items.size() == 1 && call.tensor_of(items[0]).dtype() == Dtype::boolean;
  if (is_mask && !call.is_tensor(2)) return masked_fill_(x, call.tensor_of(items[0])), Tensors(0);
  call.require(!x.requires_grad() && !(call.is_tensor(2) && call.tensor(2).requires_grad()), "gradients");
  for (const Argument& item : items)
    call.require(!is_tensor(item) || call.tensor_of(item).dtype() != Dtype::boolean, "a mask");
  return Tensors(0);
}

/// Elements of a tensor, or a number.
Tensors scattered(const FunctionCall& call, Tensor (*of_tensor)(Tensor, int, Tensor, Tensor),
                  Tensor (*of_number)(Tensor, Tensor)) {
  if (!call.is_tensor(3)) return {of_number(call.tensor(0), call.tensor(2))};
  return {of_tensor(call.tensor(0), call.dimension(1), call.tensor(2), call.tensor(3))};
}

constexpr Function kFunctions[] = {
    {"__setitem__", "input index value", setitem_call},
    {"__getitem__", "input index", getitem_call},
    {"select", "input dim index",
     [](FunctionCall& c) { return Tensors{select(c.tensor(0), c.dimension(1), c.integer(2))}; }},
    {"gather", "input dim index sparse_grad",
     [](FunctionCall& c) { return Tensors{gather_along(c.tensor(0), c.dimension(1), c.tensor(2))}; }},
    {"index_select", "input dim index",
     [](FunctionCall& c) { return Tensors{index_select(c.tensor(0), c.dimension(1), c.tensor(2))}; }},
    {"scatter", "input dim index src value", [](FunctionCall& c) { return scattered(c, scatter, scatter_number); }},
    {"scatter_", "input dim index src value", [](FunctionCall& c) { return scattered(c, scatter_, scatter_number_); }},
    {"masked_scatter", "input mask source",
     [](FunctionCall& c) { return Tensors{masked_scatter(c.tensor(0), c.tensor(1), c.tensor(2))}; }},
    {"index_add_", "input dim index source",
     [](FunctionCall& c) { return Tensors{index_add_(c.tensor(0), c.tensor(2), c.tensor(3))}; }},
    {"scatter_add_", "input dim index source",
     [](FunctionCall& c) { return Tensors{scatter_add_(c.tensor(0), c.tensor(2), c.tensor(3))}; }},
};

}  // namespace

std::span<const Function> index_functions() { return kFunctions; }

}  // namespace tidemark
