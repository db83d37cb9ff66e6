// Products of matrices, and convolutions.
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

Tensors baddbmm_call(FunctionCall& call) {
  call.require(call.real_or(3, 1) == 1, "another beta than 1");
  return {baddbmm(call.tensor(0), call.tensor(1), call.tensor(2), call.real_or(4, 1))};
}

Tensors addmm_call(FunctionCall& call) {
  call.require(call.real_or(3, 1) == 1 && call.real_or(4, 1) == 1, "another beta or alpha than 1");
  return {addmm(call.tensor(0), call.tensor(1), call.tensor(2))};
}

/// Of patches: the stride is the kernel.
Tensors convolution_call(FunctionCall& call) {
  Tensor x = call.tensor(0), weight = call.tensor(1);
  const Dims stride = call.dims(3);
  bool patches = !x.requires_grad() && stride.count() > 0 && weight.dims() == x.dims();
  for (int d = 2; d < weight.dims() && patches; ++d)
    patches = stride[stride.count() == 1 ? 0 : d - 2] == weight.size(d) && x.size(d) >= weight.size(d);
  call.require(patches, "another stride than its kernel");
  return {patch_convolution(std::move(x), std::move(weight), call.tensor_if_given(2))};
}

constexpr Function kFunctions[] = {
    {"linear", "input weight bias",
     [](FunctionCall& c) { return Tensors{linear(c.tensor(0), c.tensor(1), c.tensor_if_given(2))}; }},
    {"matmul __matmul__", "input other", [](FunctionCall& c) { return Tensors{matmul(c.tensor(0), c.tensor(1))}; }},
    {"mm", "input mat2", [](FunctionCall& c) { return Tensors{mm(c.tensor(0), c.tensor(1))}; }},
    {"bmm", "input mat2", [](FunctionCall& c) { return Tensors{bmm(c.tensor(0), c.tensor(1))}; }},
    {"addmm", "input mat1 mat2 beta alpha", addmm_call},
    {"baddbmm", "input batch1 batch2 beta alpha", baddbmm_call},
    {"_grouped_mm grouped_mm", "input mat2 offs",
     [](FunctionCall& c) { return Tensors{grouped_mm(c.tensor(0), c.tensor(1), c.tensor(2))}; }},
    {"conv2d conv3d", "input weight bias stride padding dilation groups", convolution_call},
};

}  // namespace

std::span<const Function> matrix_functions() { return kFunctions; }

}  // namespace tidemark
