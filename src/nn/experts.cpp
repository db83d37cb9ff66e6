#include "nn/experts.h"

#include "base/error.h"
#include "nn/decoder.h"
#include "nn/experts_forward.h"
#include "nn/routing.h"

namespace tidemark {
namespace {

/// What a router hands on: its logits (N, E), and of each token the scores and numbers of its experts (N, k).
struct Routed {
  Tensor logits, scores, indices;
};

/// MixtralTopKRouter.forward; the later families cast scores back to the type of the logits.
Tensors top_k_router(Module& m, const Tensor& input, const Experts& c) {
  const Tensor hidden_states = reshape(input, {-1, input.size(-1)});
  const Tensor router_logits = linear(hidden_states, m("weight"));
  const Tensor router_probs =
      c.scores_in_f32 ? softmax(to(router_logits, Dtype::f32)) : softmax(router_logits, Dtype::f32);
  auto [router_top_value, router_indices] = topk(router_probs, c.per_token);
  if (c.normalized) router_top_value = div_(router_top_value, sum(router_top_value, Dims{-1}, true));
  if (!c.scores_in_f32) router_top_value = to(router_top_value, router_logits.dtype());
  return {router_logits, router_top_value, router_indices};
}

/// self.gate(hidden_states)
Routed route(Module& m, Tensor input, const Experts& c) {
  const Tensor argument = std::move(input);
  Tensor hidden_states = argument;
  const Call call(m, hidden_states);
  Tensors outputs = top_k_router(m, hidden_states, c);
  outputs = call.returns(std::move(outputs));
  return {std::move(outputs[0]), std::move(outputs[1]), std::move(outputs[2])};
}

/// self.experts(hidden_states, top_k_index, top_k_weights)
Tensor run_experts(Module& m, Tensor input, const Routed& routed, const Experts& c, const Context& context) {
  const Tensor argument = std::move(input);
  Tensors inputs{argument, routed.indices, routed.scores};
  const Call call(m, inputs);
  const ExpertsCall asked{m, inputs[0], inputs[1], inputs[2]};
  switch (context.experts) {
    case ExpertsKind::grouped_mm: return call.returns(grouped_mm_experts(asked));
    case ExpertsKind::batched_mm: return call.returns(batched_mm_experts(asked));
    case ExpertsKind::eager: break;
  }
  return call.returns(eager_experts(asked, tokens_per_expert(argument.size(0), c, context.routing_skew)));
}

/// hidden_states *= torch.empty_like(hidden_states).uniform_(…)
Tensor jittered(Tensor hidden_states) {
  if (is_handed_on(hidden_states))  // torch: check_inplace, of a view that a custom Function has made
    throw Error(Errc::unsupported, "PyTorch raises an error: it is multiplied in place into what a hook has handed on",
                "router_jitter_noise", "set it to 0");
  const Tensor noise = empty_like(hidden_states);
  return mul_(std::move(hidden_states), noise);
}

}  // namespace

std::vector<std::int64_t> tokens_per_expert(std::int64_t rows, const Experts& experts, double skew) {
  const Routing routing{rows, experts.per_token, experts.count, tokens_of_share(rows, skew)};
  std::vector<std::int64_t> tokens;
  for (std::int64_t expert = 0; expert < experts.count; ++expert) tokens.push_back(tokens_of_expert(routing, expert));
  return tokens;
}

void add_sparse_moe_block(Module& layer, const Experts& c, std::int64_t hidden_size, std::string_view hidden_act) {
  Module& m = layer.add("mlp");
  const auto add_router = [&] { m.add("gate").parameter("weight", {c.count, hidden_size}); };
  if (c.router_first) add_router();
  Module& experts = m.add("experts");
  experts.parameter("gate_up_proj", {c.count, 2 * c.width, hidden_size});
  experts.parameter("down_proj", {c.count, hidden_size, c.width});
  add_activation(experts, "act_fn", hidden_act);
  if (!c.router_first) add_router();
  if (c.shared_width == 0) return;
  Decoder shared{.hidden_size = hidden_size, .intermediate_size = c.shared_width};
  shared.hidden_act = hidden_act;
  add_gated_mlp(m, shared, "shared_expert");
  add_linear(m, "shared_expert_gate", hidden_size, 1, false);
}

Tensor sparse_moe_block(Module& m, Tensor input, const Experts& c, const Context& context, CapturedOutputs* captured) {
  const Tensor passed = std::move(input);
  Tensor argument = passed;
  const Call call(m, argument);
  Tensor hidden_states = c.jitter && m.training ? jittered(argument) : argument;
  hidden_states = view(hidden_states, {-1, hidden_states.size(-1)});
  Tensor shared_expert_output;
  if (c.shared_width > 0) shared_expert_output = gated_mlp(m["shared_expert"], hidden_states);
  const Routed routed = route(m["gate"], hidden_states, c);
  if (captured && captured->active) captured->router_logits.push_back(routed.logits);
  Tensor expert_output = run_experts(m["experts"], hidden_states, routed, c, context);
  if (c.shared_width > 0) {
    Tensor gate = sigmoid(m["shared_expert_gate"](hidden_states));
    shared_expert_output = mul(std::move(gate), shared_expert_output);
    expert_output = add(expert_output, shared_expert_output);
  }
  return call.returns(reshape(expert_output, argument.sizes()));
}

Tensor load_balancing_loss(const std::vector<Tensor>& gate_logits, const Experts& c, const Tensor& attention_mask) {
  Run& run = attention_mask.run();
  Tensor tokens_per_expert_sum = zeros(run, Dims{c.count}, Dtype::f32);
  Tensor router_prob_sum = zeros(run, Dims{c.count}, Dtype::f32), total_rows;
  const Tensor flat_mask = to(reshape(attention_mask, {-1}), Dtype::f32);
  Tensor routing_weights, selected_experts, top_values;
  for (const Tensor& layer_gate : gate_logits) {
    routing_weights = softmax(layer_gate);
    {
      auto [values, indices] = topk(routing_weights, c.per_token);
      top_values = std::move(values);  // `_`
      selected_experts = std::move(indices);
    }
    {
      Tensor none = zeros(run, Dims{c.count}, Dtype::f32);
      const Tensor chosen = reshape(selected_experts, {-1});
      none = scatter_add_(std::move(none), chosen, repeat_each(flat_mask, c.per_token));
      tokens_per_expert_sum = add(tokens_per_expert_sum, std::move(none));
    }
    {
      Tensor in_f32 = to(routing_weights, Dtype::f32);
      Tensor masked = mul(std::move(in_f32), unsqueeze(flat_mask, -1));
      router_prob_sum = add(router_prob_sum, sum(std::move(masked), Dims{0}));
    }
    Tensor rows = sum(flat_mask);
    total_rows = total_rows ? add(total_rows, std::move(rows)) : add_scalar(std::move(rows));
  }
  const Tensor tokens_share = div(tokens_per_expert_sum, total_rows);
  const Tensor router_prob_per_expert = div(router_prob_sum, total_rows);
  const Tensor overall_loss = sum(mul(tokens_share, unsqueeze(router_prob_per_expert, 0)));
  return mul_scalar(overall_loss);
}

}  // namespace tidemark
