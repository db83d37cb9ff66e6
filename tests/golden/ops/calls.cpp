#include <array>

#include "ops/advanced_index.h"
#include "ops/complex_numbers.h"
#include "ops/convolution.h"
#include "ops/einsum.h"
#include "ops/in_place.h"
#include "ops/loss.h"
#include "ops/membership.h"
#include "ops/normalization.h"
#include "ops/pointwise.h"
#include "ops/selection.h"
#include "ops/triangular.h"
#include "ops/windows.h"
#include "recorded_case.h"

namespace tidemark {
namespace {

int dim(const Arguments& arguments, const char* key = "d") { return static_cast<int>(arguments.number(key)); }

std::optional<Dtype> dtype_if_given(const Arguments& arguments) {
  return arguments.has("dtype") ? std::optional(dtype_named(arguments.text("dtype"))) : std::nullopt;
}

Tensor used(Tensors parts, const Arguments& arguments) {
  const std::int64_t use = arguments.number("use");
  return parts[use < 0 ? parts.size() - static_cast<std::size_t>(-use) : static_cast<std::size_t>(use)];
}

/// Another tensor like it, on the host.
Tensor on_host(Run& run, const Tensor& like) {
  const Setting<bool> place(run.on_host, true);
  return empty(run, like.sizes(), like.dtype());
}

/// Of one tensor and nothing else.
template <Tensor (*function)(Tensor)>
Tensor unary(Inputs& in, const Arguments&, Run&) {
  return function(in[0]);
}

template <Tensor (*function)(Tensor, Tensor)>
Tensor binary(Inputs& in, const Arguments&, Run&) {
  return function(in[0], in[1]);
}

const std::vector<NamedCall> kViews = {
    {"view", [](Inputs& in, const Arguments& a, Run&) { return view(in[0], a.dims("sizes")); }},
    {"reshape", [](Inputs& in, const Arguments& a, Run&) { return reshape(in[0], a.dims("sizes")); }},
    {"transpose", [](Inputs& in, const Arguments& a, Run&) { return transpose(in[0], dim(a, "a"), dim(a, "b")); }},
    {"permute", [](Inputs& in, const Arguments& a, Run&) { return permute(in[0], a.dims("order")); }},
    {"unsqueeze", [](Inputs& in, const Arguments& a, Run&) { return unsqueeze(in[0], dim(a)); }},
    {"squeeze", [](Inputs& in, const Arguments& a, Run&) { return squeeze(in[0], dim(a)); }},
    {"expand", [](Inputs& in, const Arguments& a, Run&) { return expand(in[0], a.dims("sizes")); }},
    {"slice",
     [](Inputs& in, const Arguments& a, Run&) { return slice(in[0], dim(a), a.number("start"), a.number("end")); }},
    {"slice_step",
     [](Inputs& in, const Arguments& a, Run&) {
       const std::int64_t end = in.tensors[0].size(-1);
       return slice_step(in[0], -1, a.number("start"), end, a.number("step"));
     }},
    {"select", [](Inputs& in, const Arguments& a, Run&) { return select(in[0], dim(a), a.number("index")); }},
    {"split", [](Inputs& in, const Arguments& a, Run&) { return used(split(in[0], a.number("piece"), dim(a)), a); }},
    {"split_sizes",
     [](Inputs& in, const Arguments& a, Run&) { return used(split_sizes(in[0], a.dims("pieces"), dim(a)), a); }},
    {"chunk", [](Inputs& in, const Arguments& a, Run&) { return used(chunk(in[0], dim(a, "parts"), dim(a)), a); }},
    {"view_as_complex", unary<view_as_complex>},
    {"view_as_real", unary<view_as_real>},
    {"polar", binary<polar>},
    {"contiguous", unary<contiguous>},
    {"clone", unary<clone>},
    {"detach", unary<detach>},
    {"to", [](Inputs& in, const Arguments& a, Run&) { return to(in[0], dtype_named(a.text("dtype"))); }},
    {"cat", [](Inputs& in, const Arguments& a, Run&) { return cat(in.all(), dim(a)); }},
    {"stack", [](Inputs& in, const Arguments& a, Run&) { return stack(in.all(), dim(a)); }},
    {"repeat_interleave",
     [](Inputs& in, const Arguments& a, Run&) {
       if (in.tensors.size() == 1) return repeat_interleave(in[0], a.number("repeats"), dim(a));
       const std::int64_t total = in.tensors[0].elements() * a.number("each");
       return repeat_interleave(in[0], in[1], total);
     }},
    {"pad", [](Inputs& in, const Arguments& a, Run&) { return pad(in[0], a.dims("pad")); }},
};

const std::vector<NamedCall> kElementwise = {
    {"add", binary<add>},
    {"sub", binary<sub>},
    {"mul", binary<mul>},
    {"div", binary<div>},
    {"add_scalar", unary<add_scalar>},
    {"mul_scalar", unary<mul_scalar>},
    {"div_scalar", unary<div_scalar>},
    {"neg", unary<neg>},
    {"pow2", unary<pow2>},
    {"pow3", unary<pow3>},
    {"exp", unary<exp>},
    {"add_", binary<add_>},
    {"logical", [](Inputs& in, const Arguments&, Run&) { return logical("aten::bitwise_and", in[0], in[1]); }},
    {"bitwise",
     [](Inputs& in, const Arguments&, Run&) {
       return in.tensors.size() == 1 ? bitwise("aten::bitwise_and", in[0]) : bitwise("aten::bitwise_and", in[0], in[1]);
     }},
    {"rsqrt", unary<rsqrt>},
    {"pow_tensor", binary<pow_tensor>},
    {"where", [](Inputs& in, const Arguments&, Run&) { return where(in[0], in[1], in[2]); }},
    {"cos", unary<cos>},
    {"sin", unary<sin>},
    {"tanh", unary<tanh>},
    {"sigmoid", unary<sigmoid>},
    {"compare", [](Inputs& in, const Arguments&, Run&) { return compare("aten::eq", in[0]); }},
    {"silu", unary<silu>},
    {"gelu", unary<gelu>},
    {"relu", unary<relu>},
    {"log_sigmoid", unary<log_sigmoid>},
    {"sub_scalar", unary<sub_scalar>},
    {"floor_divide", unary<floor_divide>},
    {"softmax", [](Inputs& in, const Arguments& a, Run&) { return softmax(in[0], dtype_named(a.text("dtype"))); }},
    {"dropout", [](Inputs& in, const Arguments& a, Run&) { return dropout(in[0], a.real("p")); }},
};

const std::vector<NamedCall> kIndexing = {
    {"zeros",
     [](Inputs&, const Arguments& a, Run& run) { return zeros(run, a.dims("sizes"), dtype_named(a.text("dtype"))); }},
    {"eye",
     [](Inputs&, const Arguments& a, Run& run) { return eye(run, a.number("n"), dtype_named(a.text("dtype"))); }},
    {"full",
     [](Inputs&, const Arguments& a, Run& run) { return full(run, a.dims("sizes"), dtype_named(a.text("dtype"))); }},
    {"to_device", [](Inputs&, const Arguments& a,
                     Run& run) { return to_device(run, a.dims("sizes"), dtype_named(a.text("dtype"))); }},
    {"arange", [](Inputs&, const Arguments& a, Run& run) { return arange(run, a.number("end")); }},
    {"argmax", unary<argmax>},
    {"argmin", unary<argmin>},
    {"cdist", binary<cdist>},
    {"count_true", unary<count_true>},
    {"cumsum", [](Inputs& in, const Arguments& a, Run&) { return cumsum(in[0], dim(a), dtype_if_given(a)); }},
    {"gather", [](Inputs& in, const Arguments& a, Run&) { return gather(in[0], dim(a), in[1]); }},
    {"index_rows", binary<index_rows>},
    {"unbind", [](Inputs& in, const Arguments& a, Run&) { return used(unbind(in[0], dim(a)), a); }},
    {"masked_scatter",
     [](Inputs& in, const Arguments&, Run&) {
       const Dims sizes = in.tensors[0].sizes();
       return masked_scatter(in[0], expand(in[1], sizes), in[2]);
     }},
    {"index_mask", [](Inputs& in, const Arguments& a, Run&) { return index_mask(in[0], in[1], a.number("found")); }},
};

/// How many of `elements` numbers, taken in turn from `each`, are zero.
std::int64_t found(const Tensor& x, const Arguments& arguments) {
  const std::int64_t each = arguments.number("each");
  return (x.elements() + each - 1) / each;
}

/// Of results in a tuple.
template <std::size_t N>
Tensor used(std::array<Tensor, N> parts, const Arguments& arguments) {
  return parts[static_cast<std::size_t>(arguments.number("use"))];
}

const std::vector<NamedCall> kExperts = {
    {"topk", [](Inputs& in, const Arguments& a, Run&) { return used(topk(in[0], a.number("k")), a); }},
    {"sort", [](Inputs& in, const Arguments& a, Run&) { return used(sort(in[0]), a); }},
    {"histc", [](Inputs& in, const Arguments& a, Run&) { return histc(in[0], a.number("bins")); }},
    {"one_hot", [](Inputs& in, const Arguments& a, Run&) { return one_hot(in[0], a.number("classes")); }},
    {"unique_consecutive",
     [](Inputs& in, const Arguments& a, Run&) {
       const std::int64_t n = a.number("each") == 1 ? 1 : in.tensors[0].elements();
       return unique_consecutive(in[0], n);
     }},
    {"nonzero",
     [](Inputs& in, const Arguments& a, Run&) {
       const std::int64_t n = found(in.tensors[0], a);
       return nonzero(in[0], n);
     }},
    {"where_true",
     [](Inputs& in, const Arguments& a, Run&) {
       const std::int64_t n = found(in.tensors[0], a);
       return used(where_true(in[0], n), a);
     }},
    {"clamp", unary<clamp>},
    {"fmod", unary<fmod>},
    {"mul_", binary<mul_>},
    {"div_", binary<div_>},
    {"masked_fill", binary<masked_fill>},
    {"masked_fill_", binary<masked_fill_>},
    {"grouped_mm",
     [](Inputs& in, const Arguments&, Run&) {
       const Tensor weights = transpose(in[1], -2, -1);
       return grouped_mm(in[0], weights, in[2]);
     }},
    {"index_add_", [](Inputs& in, const Arguments&, Run&) { return index_add_(in[0], in[1], in[2]); }},
    {"scatter_add_", [](Inputs& in, const Arguments&, Run&) { return scatter_add_(in[0], in[1], in[2]); }},
};

const std::vector<NamedCall> kPointwise = {
    {"abs", unary<abs>},
    {"sqrt", unary<sqrt>},
    {"log", unary<log>},
    {"expm1", unary<expm1>},
    {"erf", unary<erf>},
    {"erfinv", unary<erfinv>},
    {"reciprocal", unary<reciprocal>},
    {"rounded", [](Inputs& in, const Arguments&, Run&) { return rounded("aten::floor", "FloorBackward0", in[0]); }},
    {"softplus", unary<softplus>},
    {"bent", [](Inputs& in, const Arguments&, Run&) { return bent("aten::hardtanh", "HardtanhBackward0", in[0]); }},
    {"rsub", unary<rsub>},
    {"sub_number", unary<sub_number>},
    {"clamp_between", [](Inputs& in, const Arguments&, Run&) { return clamp_between(in[0], true); }},
    {"clamp_from", unary<clamp_from>},
    {"maximum", binary<maximum>},
    {"fill_", unary<fill_>},
    {"copy_", binary<copy_>},
    {"scale_", unary<scale_>},
    {"scale_part",
     [](Inputs& in, const Arguments&, Run&) {
       const Tensor x = in[0];
       scale_(slice(x, 1, 8, x.size(1)));
       return x;
     }},
    {"add_into",
     [](Inputs& in, const Arguments&, Run&) {
       const Tensor x = in[0];
       add_into(slice(x, 1, 8, x.size(1)), in[1]);
       return x;
     }},
    {"masked_fill_part",
     [](Inputs& in, const Arguments&, Run&) {
       const Tensor x = in[0];
       masked_fill_(slice(x, 1, 8, x.size(1)), in[1]);
       return x;
     }},
    {"attention_bias",
     [](Inputs& in, const Arguments&, Run&) {
       const bool causal = !in.tensors[3];
       return scaled_dot_product_attention(in[0], in[1], in[2], in[3], {.causal = causal});
     }},
    {"copy_into",
     [](Inputs& in, const Arguments& a, Run&) {
       const Tensor x = in[0];
       for (std::int64_t i = 0; i < a.number("parts"); ++i) copy_(slice(x, 1, i * 8, i * 8 + 8), in.tensors[1]);
       in[1];
       return x;
     }},
};

/// The indices, which stand behind the tensor that they are for.
Tensors between(Inputs& in, std::size_t end) {
  Tensors indices;
  for (std::size_t i = 1; i < end; ++i) indices.push_back(in[i]);
  return indices;
}

const std::vector<NamedCall> kSelection = {
    {"amax", [](Inputs& in, const Arguments&, Run&) { return amax(in[0], -1, true); }},
    {"logsumexp", [](Inputs& in, const Arguments&, Run&) { return logsumexp(in[0], -1, true); }},
    {"deviation", [](Inputs& in, const Arguments& a, Run&) { return deviation(in[0], dim(a), a.flag("keep")); }},
    {"triangle", [](Inputs& in, const Arguments&, Run&) { return triangle("aten::triu", "TriuBackward0", in[0]); }},
    {"flip", unary<flip>},
    {"roll", [](Inputs& in, const Arguments& a, Run&) { return roll(in[0], a.dims("shifts"), a.dims("dims")); }},
    {"extreme", [](Inputs& in, const Arguments& a,
                   Run&) { return used(extreme("aten::max", "MaxBackward0", in[0], dim(a), a.flag("keep")), a); }},
    {"bucketize", binary<bucketize>},
    {"index_select", [](Inputs& in, const Arguments& a, Run&) { return index_select(in[0], dim(a), in[1]); }},
    {"slice_all", unary<slice_all>},
    {"to_in_order",
     [](Inputs& in, const Arguments& a, Run&) { return to_in_order(in[0], dtype_named(a.text("dtype"))); }},
    {"repeat", [](Inputs& in, const Arguments& a, Run&) { return repeat(in[0], a.dims("times")); }},
    {"index",
     [](Inputs& in, const Arguments& a, Run& run) {
       Tensors indices = a.flag("host") ? Tensors{on_host(run, in.tensors[1])} : between(in, in.tensors.size());
       return index(in[0], std::move(indices), a.number("found"));
     }},
    {"index_put_",
     [](Inputs& in, const Arguments& a, Run&) {
       Tensors indices = between(in, in.tensors.size() - 1);
       Tensor values = in[in.tensors.size() - 1];
       const Tensor whole = in[0];
       Tensor x = a.has("view") ? view(whole, a.dims("view")) : whole;
       return index_put_(std::move(x), std::move(indices), std::move(values), a.number("found"));
     }},
    {"index_put_number",
     [](Inputs& in, const Arguments&, Run&) {
       const Tensor x = in[0];
       index_put_number(x, between(in, in.tensors.size()));
       return Tensor();
     }},
    {"average_pool",
     [](Inputs& in, const Arguments&, Run&) {
       Dims sizes = in.tensors[0].sizes();
       sizes[2] /= 2;
       sizes[3] /= 2;
       return average_pool(in[0], sizes);
     }},
    {"unfold_windows",
     [](Inputs& in, const Arguments&, Run&) {
       const Dims& sizes = in.tensors[0].sizes();
       const Dims columns{sizes[0], sizes[1] * 4, sizes[2] * sizes[3] / 4};
       return unfold_windows(in[0], columns);
     }},
    {"convolution",
     [](Inputs& in, const Arguments& a, Run&) {
       Dims dilation;
       for (int d = 2; d < in.tensors[0].dims(); ++d) dilation.push_back(1);
       const ConvolutionShape shape{.stride = a.dims("stride"),
                                    .padding = a.dims("padding"),
                                    .dilation = dilation,
                                    .groups = a.number("groups")};
       return convolution(in[0], in[1], in[2], shape);
     }},
    {"convolution_of_images",
     [](Inputs& in, const Arguments& a, Run&) {
       const ConvolutionShape shape{
           .stride = a.dims("stride"), .padding = a.dims("padding"), .dilation = {1, 1}, .groups = 1};
       return convolution(in[0], in[1], Tensor(), shape);
     }},
    {"depthwise",
     [](Inputs& in, const Arguments& a, Run&) {
       const ConvolutionShape shape{
           .stride = a.dims("stride"), .padding = a.dims("padding"), .dilation = {1, 1}, .groups = a.number("groups")};
       return convolution(in[0], in[1], in[2], shape);
     }},
    {"attention_turned", [](Inputs& in, const Arguments&,
                            Run&) { return scaled_dot_product_attention(in[0], in[1], in[2], Tensor(), {}); }},
    {"grid_sample", binary<grid_sample>},
    {"upsample",
     [](Inputs& in, const Arguments& a, Run&) {
       Dims sizes = in.tensors[0].sizes();
       const Dims size = a.dims("size");
       for (int d = 0; d < size.count(); ++d) sizes[d + 2] = size[d];
       return upsample(in[0], sizes, a.text("mode"));
     }},
    {"solve_triangular", binary<solve_triangular>},
    {"scatter_number", binary<scatter_number>},
    {"scatter_number_", binary<scatter_number_>},
    {"scatter", [](Inputs& in, const Arguments&, Run&) { return scatter(in[0], -1, in[1], in[2]); }},
    {"scatter_reduce", [](Inputs& in, const Arguments&, Run&) { return scatter_reduce(in[0], in[1], in[2]); }},
    {"scatter_", [](Inputs& in, const Arguments&, Run&) { return scatter_(in[0], -1, in[1], in[2]); }},
};

const std::vector<NamedCall> kImages = {
    {"batch_norm",
     [](Inputs& in, const Arguments&, Run&) {
       return batch_norm(in[0], {.weight = in[1], .bias = in[2], .running_mean = in[3], .running_variance = in[4]});
     }},
    {"group_norm",
     [](Inputs& in, const Arguments& a, Run&) { return group_norm(in[0], a.number("groups"), in[1], in[2]); }},
    {"normalize", [](Inputs& in, const Arguments& a, Run&) { return normalize(in[0], dim(a)); }},
    {"adaptive_average_pool",
     [](Inputs& in, const Arguments& a, Run&) {
       const Dims size = a.dims("size");
       return adaptive_average_pool(in[0], size[0], size[1]);
     }},
    {"max_pool",
     [](Inputs& in, const Arguments& a, Run&) {
       Dims sizes = in.tensors[0].sizes();
       for (const int d : {-2, -1})
         sizes[d] = (sizes[d] + 2 * a.number("padding") - a.number("window")) / a.number("stride") + 1;
       return max_pool(in[0], sizes);
     }},
    {"sum_as", [](Inputs& in, const Arguments& a,
                  Run&) { return sum_as(in[0], a.dims("dims"), a.flag("keep"), dtype_named(a.text("dtype"))); }},
    {"einsum", [](Inputs& in, const Arguments& a, Run&) { return einsum(a.text("equation"), in.all()); }},
};

template <Tensor (*of)(Tensor, Tensor, LossReduction)>
Tensor loss(Inputs& in, const Arguments& arguments, Run&) {
  const std::string reduction = arguments.text("reduction");
  return of(in[0], in[1], loss_reduction(reduction.empty() ? "mean" : reduction));
}

const std::vector<NamedCall> kSpeech = {
    {"log_softmax", [](Inputs& in, const Arguments& a, Run&) { return log_softmax(in[0], dtype_if_given(a)); }},
    {"glu", [](Inputs& in, const Arguments& a, Run&) { return glu(in[0], dim(a)); }},
    {"weight_norm", binary<weight_norm>},
    {"ctc_loss",
     [](Inputs& in, const Arguments& a, Run&) {
       const LossReduction reduction = loss_reduction(a.text("reduction"));
       Tensor x = in[0], targets = in[1];
       const Tensor lengths = in[2];
       return ctc_loss(std::move(x), std::move(targets), in[3], reduction, a.flag("zero_infinity"));
     }},
    {"masked_select",
     [](Inputs& in, const Arguments& a, Run&) { return masked_select(in[0], in[1], a.number("found")); }},
};

const std::vector<NamedCall> kOthers = {
    {"mean", [](Inputs& in, const Arguments& a, Run&) { return mean(in[0], a.dims("dims"), a.flag("keep")); }},
    {"sum", [](Inputs& in, const Arguments& a, Run&) { return sum(in[0], a.dims("dims"), a.flag("keep")); }},
    {"max", unary<max>},
    {"nansum", unary<nansum>},
    {"nanmean", unary<nanmean>},
    {"prod", [](Inputs& in, const Arguments& a, Run&) { return prod(in[0], dim(a), a.flag("keep")); }},
    {"linalg_vector_norm",
     [](Inputs& in, const Arguments& a, Run&) { return linalg_vector_norm(in[0], 2, a.dims("dims"), a.flag("keep")); }},
    {"matmul", binary<matmul>},
    {"linear",
     [](Inputs& in, const Arguments&, Run&) {
       Tensor y = linear(in[0], in[1], in[2]);
       return in.tensors.size() > 3 ? add_into(std::move(y), in[3]) : y;
     }},
    {"addmm", [](Inputs& in, const Arguments&, Run&) { return addmm(in[0], in[1], in[2]); }},
    {"mm", binary<mm>},
    {"bmm", binary<bmm>},
    {"baddbmm", [](Inputs& in, const Arguments& a, Run&) { return baddbmm(in[0], in[1], in[2], a.real("alpha")); }},
    {"layer_norm", [](Inputs& in, const Arguments&, Run&) { return layer_norm(in[0], in[1], in[2]); }},
    {"rms_norm", [](Inputs& in, const Arguments&, Run&) { return rms_norm(in[0], in[1]); }},
    {"embedding", [](Inputs& in, const Arguments&, Run&) { return embedding(in[1], in[0]); }},
    {"embedding_bag", [](Inputs& in, const Arguments&, Run&) { return embedding_bag(in[1], in[0], in[2]); }},
    {"cross_entropy", binary<cross_entropy>},
    {"mse_loss", loss<mse_loss>},
    {"smooth_l1_loss", loss<smooth_l1_loss>},
    {"l1_loss", loss<l1_loss>},
    {"binary_cross_entropy_with_logits", loss<binary_cross_entropy_with_logits>},
    {"scaled_dot_product_attention",
     [](Inputs& in, const Arguments& a, Run&) {
       const bool grouped = in.tensors[0].size(1) != in.tensors[1].size(1);
       return scaled_dot_product_attention(
           in[0], in[1], in[2], in[3],
           {.causal = a.flag("causal"), .enable_gqa = grouped, .dropout = a.real("dropout")});
     }},
};

const std::vector<NamedCall> kGeneration = {
    {"any_or_all", [](Inputs& in, const Arguments& a,
                      Run&) { return any_or_all(a.text("name") == "any" ? "aten::any" : "aten::all", in[0]); }},
    {"any_in_rows", unary<any_in_rows>},
    {"isin", binary<isin>},
    {"attention_one_query",
     [](Inputs& in, const Arguments&, Run&) {
       const bool grouped = in.tensors[0].size(1) != in.tensors[1].size(1);
       return scaled_dot_product_attention(in[0], in[1], in[2], {}, {.enable_gqa = grouped});
     }},
};

}  // namespace

std::vector<NamedCall> named_calls() {
  std::vector<NamedCall> calls;
  for (const auto* group : {&kViews, &kElementwise, &kIndexing, &kExperts, &kPointwise, &kSelection, &kImages, &kSpeech,
                            &kGeneration, &kOthers})
    calls.insert(calls.end(), group->begin(), group->end());
  return calls;
}

}  // namespace tidemark
