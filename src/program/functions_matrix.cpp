// Products of matrices, and convolutions.
#include "ops/convolution.h"
#include "ops/einsum.h"
#include "ops/triangular.h"
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

/// One number for all dimensions, or one for each.
Dims of_each(const FunctionCall& call, std::size_t parameter, std::int64_t usual, int dims) {
  const Dims given = call.given(parameter) ? call.dims(parameter) : Dims{usual};
  if (given.count() == dims) return given;
  Dims all;
  for (int d = 0; d < dims; ++d) all.push_back(given[0]);
  return all;
}

Dims no_padding(int dims) {
  Dims none;
  for (int d = 0; d < dims; ++d) none.push_back(0);
  return none;
}

Tensors convolution_call(FunctionCall& call) {
  const Tensor weight = call.tensor(1);
  const int dims = weight.dims() - 2;
  const bool is_named = call.given(4) && call.argument(4).kind == Argument::Kind::text;
  call.require(!is_named || call.argument(4).text == "valid", "such a padding");
  const ConvolutionShape shape{.stride = of_each(call, 3, 1, dims),
                               .padding = is_named ? no_padding(dims) : of_each(call, 4, 0, dims),
                               .dilation = of_each(call, 5, 1, dims),
                               .groups = call.integer_or(6, 1)};
  return {convolution(call.tensor(0), weight, call.tensor_if_given(2), shape)};
}

Tensors transposed_convolution_call(FunctionCall& call) {
  const Tensor weight = call.tensor(1);
  const int dims = weight.dims() - 2;
  call.require(call.integer_or(6, 1) == 1, "groups");
  const ConvolutionShape shape{.stride = of_each(call, 3, 1, dims),
                               .padding = of_each(call, 4, 0, dims),
                               .dilation = of_each(call, 7, 1, dims),
                               .transposed = true,
                               .output_padding = of_each(call, 5, 0, dims)};
  return {convolution(call.tensor(0), weight, call.tensor_if_given(2), shape)};
}

/// As codebooks are searched (transformers: models/mimi/modeling_mimi.py, MimiEuclideanCodebook, 5.23.0).
Tensors cdist_call(FunctionCall& call) {
  Tensor x = call.tensor(0), y = call.tensor(1);
  const bool is_usual = !call.given(3) || call.argument(3).text == "use_mm_for_euclid_dist_if_necessary";
  call.require(call.real_or(2, 2) == 2 && is_usual, "other distances than Euclidean ones");
  call.require(x.dims() == 3 && y.dims() == 3 && x.size(0) == y.size(0), "other tensors than two batches of rows");
  call.require(!x.requires_grad() && !y.requires_grad(), "distances that ask for a gradient");
  return {cdist(std::move(x), std::move(y))};
}

/// The operands behind each other, or in a list.
Tensors einsum_call(FunctionCall& call) {
  const std::vector<Argument>& given = call.argument(1).items;
  Tensors operands;
  for (const Argument& item : given.size() == 1 && given[0].kind == Argument::Kind::list ? given[0].items : given)
    operands.push_back(call.tensor_of(item));
  call.require(operands.size() == 1 || operands.size() == 2, "more than two tensors");
  const std::string& equation = call.argument(0).text;
  call.require(einsum_dims(equation, operands) <= Dims::kMost, "more dimensions than six");
  return {einsum(equation, std::move(operands))};
}

constexpr Function kMatrixFunctions[] = {
    {"linear", "input weight bias",
     [](FunctionCall& c) { return Tensors{linear(c.tensor(0), c.tensor(1), c.tensor_if_given(2))}; }},
    {"matmul __matmul__", "input other", [](FunctionCall& c) { return Tensors{matmul(c.tensor(0), c.tensor(1))}; }},
    {"mm", "input mat2", [](FunctionCall& c) { return Tensors{mm(c.tensor(0), c.tensor(1))}; }},
    {"bmm", "input mat2", [](FunctionCall& c) { return Tensors{bmm(c.tensor(0), c.tensor(1))}; }},
    {"addmm", "input mat1 mat2 beta alpha", addmm_call},
    {"cdist", "x1 x2 p compute_mode", cdist_call},
    {"baddbmm", "input batch1 batch2 beta alpha", baddbmm_call},
    {"einsum", "equation *operands", einsum_call},
    {"_grouped_mm grouped_mm", "input mat2 offs",
     [](FunctionCall& c) { return Tensors{grouped_mm(c.tensor(0), c.tensor(1), c.tensor(2))}; }},
    {"solve_triangular", "A B upper left unitriangular",
     [](FunctionCall& c) { return Tensors{solve_triangular(c.tensor(0), c.tensor(1))}; }},
    {"conv1d conv2d conv3d", "input weight bias stride padding dilation groups", convolution_call},
    {"conv_transpose2d", "input weight bias stride padding output_padding groups dilation",
     transposed_convolution_call},
};

}  // namespace

std::span<const Function> matrix_functions() { return kMatrixFunctions; }

}  // namespace tidemark
