// x[…], and what reads or writes by indices.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "ops/advanced_index.h"
#include "ops/in_place.h"
#include "ops/selection.h"
#include "program/function.h"
#include "program/functions.h"
#include "program/model.h"

namespace tidemark {
namespace {

bool is_value(const Argument& at) { return at.kind == Argument::Kind::value; }

std::int64_t bound(const FunctionCall& call, const Argument& at, std::int64_t usual, std::int64_t size) {
  if (at.kind == Argument::Kind::none) return usual;
  const std::int64_t given = call.integer_of(at);
  return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
}

Tensor sliced(const FunctionCall& call, Tensor x, int d, const Argument& range) {
  const std::int64_t size = x.size(d);
  if (is_value(range.items[0]) || is_value(range.items[1])) {  // the host reads them; only how many there are counts
    call.run.stream_calls.host_waits();
    return slice(std::move(x), d, 0, call.has_result() ? call.result_sizes()[d] : size);
  }
  const std::int64_t start = bound(call, range.items[0], 0, size), end = bound(call, range.items[1], size, size);
  const std::int64_t step = range.items[2].kind == Argument::Kind::none ? 1 : call.integer_of(range.items[2]);
  if (step != 1) {
    call.require(step > 1, "such a step");
    return slice_step(std::move(x), d, start, end, step);
  }
  const auto is_end = [&](const Argument& at, std::int64_t usual) {
    return at.kind == Argument::Kind::none || call.integer_of(at) == usual;
  };
  if (is_end(range.items[0], 0) && is_end(range.items[1], size)) return x;
  if (start == 0 && end == size) return slice_all(std::move(x));
  return slice(std::move(x), d, start, std::max(start, end));
}

bool is_tensor(const Argument& item) {
  return item.kind == Argument::Kind::value || item.kind == Argument::Kind::attribute;
}

bool is_index(const Argument& item) { return is_tensor(item) || item.kind == Argument::Kind::list; }

/// How many dimensions an item takes.
int uses_of(const FunctionCall& call, const Argument& item) {
  if (is_tensor(item)) {
    const Tensor index = call.tensor_of(item);
    return index.dtype() == Dtype::boolean ? index.dims() : 1;
  }
  return item.kind == Argument::Kind::slice || item.kind == Argument::Kind::number || is_index(item) ? 1 : 0;
}

/// What ranges, numbers, None and `...` make of x, one after the other, and the tensors among them by what is a
/// dimension then.  torch: csrc/autograd/python_variable_indexing.cpp, applySlicing
struct Shown {
  Tensor x;
  Tensors indices;
};

void add_index(const FunctionCall& call, Shown& shown, int& d, const Argument& item) {
  shown.indices.resize(std::max(shown.indices.size(), static_cast<std::size_t>(d) + 1));
  const bool is_list = item.kind == Argument::Kind::list;
  Tensor index = is_list ? to_device(call.run, Dims{static_cast<std::int64_t>(item.items.size())}, Dtype::int64)
                         : call.tensor_of(item);
  d += index.dtype() == Dtype::boolean ? index.dims() : 1;
  shown.indices[shown.indices.size() - 1] = std::move(index);
}

/// A whole number on the card.  torch: csrc/autograd/python_variable_indexing.cpp, applySlicing
bool is_number(const FunctionCall& call, const Argument& item) {
  if (!is_tensor(item)) return false;
  const Tensor index = call.tensor_of(item);
  return index.dims() == 0 && index.dtype() != Dtype::boolean;
}

Shown shown_of(const FunctionCall& call, const Tensor& x, const std::vector<Argument>& items) {
  int uses = 0;
  for (const Argument& item : items) uses += uses_of(call, item);
  call.require(uses <= x.dims(), "more indices than dimensions");
  Shown shown{.x = x, .indices = {}};
  int d = 0;
  for (const Argument& item : items) {
    switch (item.kind) {
      case Argument::Kind::ellipsis: d += x.dims() - uses; break;
      case Argument::Kind::none: shown.x = unsqueeze(std::move(shown.x), d++); break;
      case Argument::Kind::number: shown.x = select(std::move(shown.x), d, call.integer_of(item)); break;
      case Argument::Kind::slice:
        shown.x = sliced(call, std::move(shown.x), d, item);
        ++d;
        break;
      default:
        call.require(is_index(item), "such an index");
        if (is_number(call, item)) {
          call.run.stream_calls.host_waits();  // which reads it
          shown.x = select(std::move(shown.x), d, 0);
          break;
        }
        add_index(call, shown, d, item);
    }
  }
  return shown;
}

std::vector<Argument> items_of(const Argument& index) {
  return index.kind == Argument::Kind::list ? index.items : std::vector<Argument>{index};
}

/// How many elements of the mask among the indices are true, by the sizes that the program gives the result.
std::int64_t found_of(const Shown& shown, const Dims& result) {
  int behind = shown.x.dims();
  for (const Tensor& index : shown.indices) {
    if (index && index.dtype() == Dtype::boolean) {
      const int from_the_end = behind - index.dims() + 1;
      return from_the_end > result.count() ? 1 : result[result.count() - from_the_end];
    }
    --behind;
  }
  return 0;
}

/// THPVariable_getitem
Tensors getitem_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  Shown shown = shown_of(call, x, items_of(call.argument(1)));
  if (!shown.indices.empty()) {
    const std::int64_t found = found_of(shown, call.result_sizes());
    return {index(std::move(shown.x), std::move(shown.indices), found)};
  }
  return {shown.x.is(x) && x.dims() > 0 ? slice(x, 0, 0, x.size(0)) : std::move(shown.x)};
}

/// x[index] = value.  torch: ATen/TensorIndexing.h, copy_to; native/TensorAdvancedIndexing.cpp, index_put_: a number
/// under a mask is masked_fill_.
Tensors setitem_call(FunctionCall& call) {
  Shown shown = shown_of(call, call.tensor(0), items_of(call.argument(1)));
  const bool is_mask = shown.indices.size() == 1 && shown.indices[0].dtype() == Dtype::boolean;
  if (shown.indices.empty()) {
    if (!call.is_tensor(2)) return fill_(std::move(shown.x)), Tensors(0);
    Tensor value = call.tensor(2);
    if (value.sizes() != shown.x.sizes()) value = expand(std::move(value), shown.x.sizes());
    copy_(std::move(shown.x), std::move(value));
  } else if (is_mask && !call.is_tensor(2)) {
    masked_fill_(std::move(shown.x), std::move(shown.indices[0]));
  } else if (call.is_tensor(2)) {
    const Tensor value = call.tensor(2);
    const bool tells = call.given(3) || !is_mask || value.dims() > shown.x.dims() - shown.indices[0].dims();
    call.require(tells, "a value that does not tell how much of the mask is true");
    const std::int64_t found = call.given(3) ? call.integer(3) : found_of(shown, value.sizes());
    index_put_(std::move(shown.x), std::move(shown.indices), value, found);
  } else {
    call.require(!shown.x.requires_grad(), "gradients");
    for (const Tensor& index : shown.indices)
      call.require(!index || index.dtype() != Dtype::boolean, "a number at a mask and other indices");
    index_put_number(shown.x, shown.indices);
  }
  return Tensors(0);
}

/// Elements of a tensor, or a number.
Tensors scattered(const FunctionCall& call, Tensor (*of_tensor)(Tensor, int, Tensor, Tensor),
                  Tensor (*of_number)(Tensor, Tensor)) {
  if (!call.is_tensor(3)) return {of_number(call.tensor(0), call.tensor(2))};
  return {of_tensor(call.tensor(0), call.dimension(1), call.tensor(2), call.tensor(3))};
}

Tensors scatter_reduce_call(FunctionCall& call) {
  const std::string& reduce = call.argument(4).text;
  call.require(reduce == "amin" || reduce == "amax", "another reduction than the least or the largest");
  Tensor x = call.tensor(0), source = call.tensor(3);
  call.require(!x.requires_grad() && !source.requires_grad(), "a gradient");
  return {scatter_reduce(std::move(x), call.tensor(2), std::move(source))};
}

/// As many places as the program has; with `as_tuple` a tensor for each dimension.
Tensors nonzero_call(FunctionCall& call) {
  const std::int64_t found = call.result_sizes()[0];
  if (call.flag_or(1, false)) return where_true(call.tensor(0), found);
  return {nonzero(call.tensor(0), found)};
}

/// As many as the program has.
Tensors masked_select_call(FunctionCall& call) {
  const Tensor x = call.tensor(0), mask = call.tensor(1);
  call.require(mask.sizes() == x.sizes() && !needs_grad(x), "a mask of other sizes, or a gradient");
  return {masked_select(x, mask, call.result_sizes()[0])};
}

/// What stands for images among the tokens is theirs.
Tensors masked_scatter_call(FunctionCall& call) {
  const Tensor input = call.tensor(0), source = call.tensor(2);
  const std::int64_t of_sample = std::max<std::int64_t>(input.size(-1) * input.size(0), 1);
  if (source.elements() > input.elements())
    throw ImagesNeedTokens{input.elements() / of_sample, source.elements() / of_sample};
  return {masked_scatter(input, call.tensor(1), source)};
}

constexpr Function kIndexFunctions[] = {
    {"__setitem__", "input index value found", setitem_call},
    {"__getitem__", "input index", getitem_call},
    {"select", "input dim index",
     [](FunctionCall& c) { return Tensors{select(c.tensor(0), c.dimension(1), c.integer(2))}; }},
    {"gather", "input dim index sparse_grad",
     [](FunctionCall& c) { return Tensors{gather(c.tensor(0), c.dimension(1), c.tensor(2))}; }},
    {"index_select", "input dim index",
     [](FunctionCall& c) { return Tensors{index_select(c.tensor(0), c.dimension(1), c.tensor(2))}; }},
    {"scatter", "input dim index src value", [](FunctionCall& c) { return scattered(c, scatter, scatter_number); }},
    {"scatter_", "input dim index src value", [](FunctionCall& c) { return scattered(c, scatter_, scatter_number_); }},
    {"scatter_reduce", "input dim index src reduce include_self", scatter_reduce_call},
    {"masked_scatter", "input mask source", masked_scatter_call},
    {"masked_select", "input mask", masked_select_call},
    {"nonzero argwhere", "input as_tuple", nonzero_call},
    {"bucketize", "input boundaries right",
     [](FunctionCall& c) { return Tensors{bucketize(c.tensor(0), c.tensor(1))}; }},
    {"index_add_", "input dim index source",
     [](FunctionCall& c) { return Tensors{index_add_(c.tensor(0), c.tensor(2), c.tensor(3))}; }},
    {"scatter_add_", "input dim index source",
     [](FunctionCall& c) { return Tensors{scatter_add_(c.tensor(0), c.tensor(2), c.tensor(3))}; }},
};

}  // namespace

std::span<const Function> index_functions() { return kIndexFunctions; }

}  // namespace tidemark
