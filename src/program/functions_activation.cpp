// Activations, normalisation, dropout, embeddings and losses.
#include "nn/bloom_gelu.h"
#include "ops/loss.h"
#include "ops/normalization.h"
#include "ops/pointwise.h"
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

template <Tensor (*operation)(Tensor)>
Tensors activation(FunctionCall& call) {
  call.require(!call.flag_or(1, false), "inplace=True");
  return {operation(call.tensor(0))};
}

/// Those that keep their input.
Tensors bent_call(FunctionCall& call, std::size_t inplace, const char* backward) {
  call.require(!call.flag_or(inplace, false), "inplace=True");
  return {bent("aten::activation", backward, call.tensor(0))};
}

Tensors glu_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  const int d = call.given(1) ? call.dimension(1) : -1;
  call.require(x.size(d) % 2 == 0, "a dimension that has no halves");
  return {glu(x, d)};
}

Tensors dropout_call(FunctionCall& call) {
  call.require(!call.flag_or(3, false), "inplace=True");
  return {dropout(call.tensor(0), call.flag_or(2, true) ? call.dropout_or(1, 0.5) : 0)};
}

Tensors layer_norm_call(FunctionCall& call) {
  call.require(call.dims(1).count() == 1, "more dimensions than the last");
  return {layer_norm(call.tensor(0), call.tensor_if_given(2), call.tensor_if_given(3))};
}

Tensors rms_norm_call(FunctionCall& call) {
  call.require(call.dims(1).count() == 1, "more dimensions than the last");
  const Tensor x = call.tensor(0), weight = call.tensor_if_given(2);
  call.require(is_rms_norm_fused(x, weight), "a weight of another type");
  return {rms_norm(x, weight)};
}

Tensors batch_norm_call(FunctionCall& call) {
  call.require(call.flag_or(5, false), "statistics that are given");
  const Tensor x = call.tensor(0);
  const BatchNormParameters parameters{.weight = call.tensor_if_given(3),
                                       .bias = call.tensor_if_given(4),
                                       .running_mean = call.tensor_if_given(1),
                                       .running_variance = call.tensor_if_given(2)};
  call.require(is_batch_norm_known(x, parameters), "channels that are last");
  return {batch_norm(x, parameters)};
}

Tensors normalize_call(FunctionCall& call) {
  call.require(call.real_or(1, 2) == 2, "another norm than the second");
  return {normalize(call.tensor(0), static_cast<int>(call.integer_or(2, 1)))};
}

/// torch.nn.functional.embedding has its arguments the other way round.
Tensors embedding_call(FunctionCall& call) {
  call.require(!call.given(3) && !call.flag_or(5, false) && !call.flag_or(6, false), "max_norm or sparse gradients");
  return {embedding(call.tensor(1), call.tensor(0))};
}

/// Weights and sums are the only way in which models call it (transformers 5.17.0: modeling_kimi_k25.py).
Tensors embedding_bag_call(FunctionCall& call) {
  constexpr std::size_t kMode = 6, kWeights = 8;
  call.require(call.given(kMode) && call.argument(kMode).text == "sum" && call.given(kWeights),
               "without weights, or no sum");
  call.require(call.tensor(0).dims() == 2 && !call.given(2) && !call.given(3), "other bags than the rows of a matrix");
  call.require(!call.tensor(kWeights).requires_grad(), "weights that ask for a gradient");
  return {embedding_bag(call.tensor(1), call.tensor(0), call.tensor(kWeights))};
}

Tensors cross_entropy_call(FunctionCall& call) {
  call.require(!call.given(2) && call.real_or(7, 0) == 0, "weights of classes or label smoothing");
  call.require(!call.given(6) || call.argument(6).text == "mean", "another reduction than the mean");
  call.require(call.tensor(0).dims() == 2, "other logits than (N, classes)");
  return {cross_entropy(call.tensor(0), call.tensor(1))};
}

template <Tensor (*of)(Tensor, Tensor, LossReduction)>
Tensors loss_call(FunctionCall& call) {
  const Tensor x = call.tensor(0), target = call.tensor(1);
  call.require(x.sizes() == target.sizes(), "tensors of other sizes than each other's");
  return {of(x, target, loss_reduction(call.given(4) ? call.argument(4).text : "mean"))};
}

template <Tensor (*of)(Tensor, Tensor, LossReduction)>
Tensors weightless(FunctionCall& call) {
  call.require(!call.given(5), "weights");
  return loss_call<of>(call);
}

Tensors smooth_l1_call(FunctionCall& call) {
  call.require(call.real_or(5, 1) != 0, "a beta of 0");  // l1_loss then (torch/nn/functional.py)
  return loss_call<smooth_l1_loss>(call);
}

Tensors binary_cross_entropy_call(FunctionCall& call) {
  call.require(!call.given(2) && !call.given(6), "weights");
  const Tensor x = call.tensor(0), target = call.tensor(1);
  call.require(x.sizes() == target.sizes() && !needs_grad(target), "targets of other sizes, or that need a gradient");
  return {binary_cross_entropy_with_logits(x, target, loss_reduction(call.given(5) ? call.argument(5).text : "mean"))};
}

Tensors log_softmax_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  call.require(call.integer_or(1, -1) == -1 || call.integer(1) == x.dims() - 1, "another dimension than the last");
  return {log_softmax(x, call.dtype(2))};
}

/// The host has to know the lengths.
Tensors ctc_loss_call(FunctionCall& call) {
  const Tensor x = call.tensor(0), targets = call.tensor(1);
  call.require(x.dims() == 3 && x.dtype() == Dtype::f32,
               "other log-probabilities than of (steps, samples, labels) in float32");
  call.require(targets.dims() == 1 && targets.dtype() == Dtype::int64 && targets.elements() % x.size(1) == 0,
               "targets that are not in one row, as many of each sample");
  call.run.stream_calls.host_waits();
  return {ctc_loss(x, targets, call.tensor(3), loss_reduction(call.given(5) ? call.argument(5).text : "mean"),
                   call.flag_or(6, false))};
}

Tensors weight_norm_call(FunctionCall& call) {
  const Tensor direction = call.tensor(0), scale = call.tensor(1);
  const std::int64_t d = call.integer_or(2, 0);
  call.require(d == 0 || d == direction.dims() - 1, "another dimension than the first or the last");
  return {weight_norm(direction, scale)};
}

/// A torch.autograd.Function of transformers.
Tensors bloom_gelu_call(FunctionCall& call) {
  Module without_parameters;
  return {bloom_gelu(without_parameters, call.tensor(0))};
}

constexpr Function kActivationFunctions[] = {
    {"silu", "input inplace", activation<silu>},
    {"gelu", "input approximate", [](FunctionCall& c) { return Tensors{gelu(c.tensor(0))}; }},
    {"GeLUFunction", "input", bloom_gelu_call},
    {"relu", "input inplace", activation<relu>},
    {"logsigmoid", "input", activation<log_sigmoid>},
    {"glu", "input dim", glu_call},
    {"softplus", "input beta threshold", [](FunctionCall& c) { return Tensors{softplus(c.tensor(0))}; }},
    {"hardtanh relu6", "input min_val max_val inplace",
     [](FunctionCall& c) { return bent_call(c, 3, "HardtanhBackward0"); }},
    {"leaky_relu", "input negative_slope inplace",
     [](FunctionCall& c) { return bent_call(c, 2, "LeakyReluBackward0"); }},
    {"elu", "input alpha inplace", [](FunctionCall& c) { return bent_call(c, 2, "EluBackward0"); }},
    {"hardswish", "input inplace", [](FunctionCall& c) { return bent_call(c, 1, "HardswishBackward0"); }},
    {"mish", "input inplace", [](FunctionCall& c) { return bent_call(c, 1, "MishBackward0"); }},
    {"softmax", "input dim dtype _stacklevel",
     [](FunctionCall& c) { return Tensors{softmax(c.tensor(0), c.dtype(2))}; }},
    {"log_softmax", "input dim dtype _stacklevel", log_softmax_call},
    {"dropout", "input p training inplace", dropout_call},
    {"layer_norm", "input normalized_shape weight bias eps", layer_norm_call},
    {"rms_norm", "input normalized_shape weight eps", rms_norm_call},
    {"batch_norm", "input running_mean running_var weight bias training momentum eps", batch_norm_call},
    {"group_norm", "input num_groups weight bias eps",
     [](FunctionCall& c) {
       return Tensors{group_norm(c.tensor(0), c.integer(1), c.tensor_if_given(2), c.tensor_if_given(3))};
     }},
    {"_weight_norm", "v g dim", weight_norm_call},
    {"normalize", "input p dim eps", normalize_call},
    {"embedding_bag",
     "input weight offsets max_norm norm_type scale_grad_by_freq mode sparse per_sample_weights include_last_offset "
     "padding_idx",
     embedding_bag_call},
    {"embedding", "input weight padding_idx max_norm norm_type scale_grad_by_freq sparse", embedding_call},
    {"cross_entropy", "input target weight size_average ignore_index reduce reduction label_smoothing",
     cross_entropy_call},
    {"ctc_loss", "log_probs targets input_lengths target_lengths blank reduction zero_infinity", ctc_loss_call},
    {"mse_loss", "input target size_average reduce reduction weight", weightless<mse_loss>},
    {"l1_loss", "input target size_average reduce reduction weight", weightless<l1_loss>},
    {"smooth_l1_loss", "input target size_average reduce reduction beta", smooth_l1_call},
    {"binary_cross_entropy_with_logits", "input target weight size_average reduce reduction pos_weight",
     binary_cross_entropy_call},
};

}  // namespace

std::span<const Function> activation_functions() { return kActivationFunctions; }

}  // namespace tidemark
