// Other shapes of the same memory, and its copies.
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

/// Tensor.flatten: dimensions from `start` to `end` become one.
Tensors flatten_call(FunctionCall& call) {
  Tensor x = call.tensor(0);
  const int start = x.sizes().at(static_cast<int>(call.integer_or(1, 0)));
  const int end = x.sizes().at(static_cast<int>(call.integer_or(2, -1)));
  Dims sizes;
  for (int d = 0; d < x.dims(); ++d) {
    if (d > start && d <= end)
      sizes[-1] *= x.size(d);
    else
      sizes.push_back(x.size(d));
  }
  return {reshape(std::move(x), sizes)};
}

Tensors split_call(FunctionCall& call) {
  const int d = static_cast<int>(call.integer_or(2, 0));
  if (call.argument(1).kind == Argument::Kind::list) return split_sizes(call.tensor(0), call.dims(1), d);
  call.require(call.integer(1) > 0, "pieces without elements");
  return split(call.tensor(0), call.integer(1), d);
}

Tensors chunk_call(FunctionCall& call) {
  call.require(call.integer(1) > 0 && call.integer(1) <= 64, "such a number of chunks");
  return chunk(call.tensor(0), static_cast<int>(call.integer(1)), static_cast<int>(call.integer_or(2, 0)));
}

Tensors repeat_call(FunctionCall& call) {
  const Dims times = call.dims(1);
  bool rows_alone = times.count() > 0 && times.count() == call.tensor(0).dims() && call.tensor(0).size(0) == 1;
  for (int d = 1; d < times.count(); ++d) rows_alone = rows_alone && times[d] == 1;
  call.require(rows_alone, "anything but copies of a single row");
  return {repeat_rows(call.tensor(0), times[0])};
}

Tensors repeat_interleave_call(FunctionCall& call) {
  if (call.is_tensor(1)) return {repeat_interleave(call.tensor(0), call.tensor(1), call.integer(3))};
  Tensor x = call.tensor(0);
  call.require(call.given(2) || x.dims() == 1, "no dimension");
  const Op op(x, "aten::repeat_interleave");  // torch: native/Repeat.cpp, repeat_interleave_symint
  const int d = call.given(2) ? x.sizes().at(call.dimension(2)) : 0;
  Dims sizes = x.sizes(), repeated;
  sizes[d] *= call.integer(1);
  for (int i = 0; i < x.dims(); ++i) {
    repeated.push_back(x.size(i));
    if (i == d) repeated.push_back(call.integer(1));
  }
  return {view(clone(expand(unsqueeze(std::move(x), d + 1), repeated)), sizes)};
}

/// The cache begins with a tensor without elements, whose type counts and whose sizes do not.
Tensors cat_call(FunctionCall& call) {
  Tensors parts;
  std::optional<Dtype> also;
  for (Tensor& part : call.tensors(0)) {
    if (part.dims() == 1 && part.size(0) == 0)
      also = also ? promote(*also, part.dtype()) : part.dtype();
    else
      parts.push_back(std::move(part));
  }
  call.require(!parts.empty(), "nothing but empty tensors");
  return {cat(std::move(parts), static_cast<int>(call.integer_or(1, 0)), also)};
}

Tensors pad_call(FunctionCall& call) {
  const Dims around = call.dims(1);
  for (int d = 2; d < around.count(); ++d) call.require(around[d] == 0, "another dimension than the last");
  call.require(around.count() >= 2, "one number");
  return {pad(call.tensor(0), around[0], around[1])};
}

constexpr Function kFunctions[] = {
    {"view", "input *shape", [](FunctionCall& c) { return Tensors{view(c.tensor(0), c.dims(1))}; }},
    {"reshape", "input *shape", [](FunctionCall& c) { return Tensors{reshape(c.tensor(0), c.dims(1))}; }},
    {"flatten", "input start_dim end_dim", flatten_call},
    {"transpose swapaxes", "input dim0 dim1",
     [](FunctionCall& c) { return Tensors{transpose(c.tensor(0), c.dimension(1), c.dimension(2))}; }},
    {"t T.__get__", "input", [](FunctionCall& c) { return Tensors{transpose(c.tensor(0), 0, 1)}; }},
    {"permute", "input *dims", [](FunctionCall& c) { return Tensors{permute(c.tensor(0), c.dims(1))}; }},
    {"unsqueeze", "input dim", [](FunctionCall& c) { return Tensors{unsqueeze(c.tensor(0), c.dimension(1))}; }},
    {"squeeze", "input dim", [](FunctionCall& c) { return Tensors{squeeze(c.tensor(0), c.dimension(1))}; }},
    {"expand", "input *sizes", [](FunctionCall& c) { return Tensors{expand(c.tensor(0), c.dims(1))}; }},
    {"expand_as", "input other", [](FunctionCall& c) { return Tensors{expand(c.tensor(0), c.tensor(1).sizes())}; }},
    {"view_as reshape_as", "input other", [](FunctionCall& c) { return Tensors{view(c.tensor(0), c.tensor(1).sizes())}; }},
    {"contiguous", "input memory_format", [](FunctionCall& c) { return Tensors{contiguous(c.tensor(0))}; }},
    {"clone", "input memory_format", [](FunctionCall& c) { return Tensors{clone(c.tensor(0))}; }},
    {"detach", "input", [](FunctionCall& c) { return Tensors{detach(c.tensor(0))}; }},
    {"chunk", "input chunks dim", chunk_call},
    {"split", "tensor split_size dim", split_call},
    {"unbind", "input dim", [](FunctionCall& c) { return unbind(c.tensor(0)); }},
    {"repeat", "input *repeats", repeat_call},
    {"repeat_interleave", "input repeats dim output_size", repeat_interleave_call},
    {"cat concat concatenate", "tensors dim", cat_call},
    {"stack", "tensors dim",
     [](FunctionCall& c) { return Tensors{stack(c.tensors(0), static_cast<int>(c.integer_or(1, 0)))}; }},
    {"pad", "input pad mode value", pad_call},
};

}  // namespace

std::span<const Function> view_functions() { return kFunctions; }

}  // namespace tidemark
