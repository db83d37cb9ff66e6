#include "nn/experts_forward.h"

#include <algorithm>

#include "base/error.h"
#include "ops/ops.h"

namespace tidemark {
namespace {

/// _default_apply_gate
Tensor apply_gate(Module& m, Tensor gate_up_out) {
  Tensors gate_up = chunk(std::move(gate_up_out), 2, -1);
  Tensor activated = m["act_fn"](gate_up[0]);
  return mul(std::move(activated), gate_up[1]);
}

/// _grouped_linear
Tensor grouped_linear(const Tensor& input, const Tensor& weight, const Tensor& offsets) {
  if (input.run().card().compute_capability_major < 8)
    throw Error(Errc::unsupported, "grouped_mm on a card below compute capability 8.0, where transformers has its own",
                "experts_implementation", "set experts_implementation to eager");
  const Tensor turned = transpose(weight, -2, -1);
  return grouped_mm(to(input, weight.dtype()), turned, offsets);
}

/// _batched_linear
Tensor batched_linear(const Tensor& input, const Tensor& weight) {
  const Tensor column = unsqueeze(input, -1);
  return squeeze(bmm(weight, column), -1);
}

/// Each token's k results, added: (N * k, D) -> (N, D)
Tensor added_up(const Tensor& weighted_out, const ExpertsCall& call) {
  const std::int64_t tokens = call.top_k_index.size(0), k = call.top_k_index.size(1);
  const Tensor final_hidden_states = sum(view(weighted_out, {tokens, k, weighted_out.size(-1)}), Dims{1});
  return to(final_hidden_states, call.hidden_states.dtype());
}

}  // namespace

/// grouped_mm_experts_forward: rows in the order of their experts, and one product over all groups.
Tensor grouped_mm_experts(const ExpertsCall& call) {
  Module& m = call.experts;
  const Tensor sample_weights = reshape(call.top_k_weights, {-1}), expert_ids = reshape(call.top_k_index, {-1});
  const auto [expert_ids_g, perm] = sort(expert_ids);
  const Tensor selected_hidden_states_g = index_rows(call.hidden_states, floor_divide(perm));
  const Tensor sample_weights_g = index_rows(sample_weights, perm);
  const Tensor histc_input = to(expert_ids_g, Dtype::int32);
  const Tensor tokens_per_expert = histc(histc_input, m("gate_up_proj").size(0));
  const Tensor offsets = cumsum(tokens_per_expert, 0, Dtype::int32);
  const Tensor sentinel_mask = unsqueeze(compare("aten::ge", expert_ids_g), -1);
  masked_fill_(selected_hidden_states_g, sentinel_mask);
  Tensor proj_out = grouped_linear(selected_hidden_states_g, m("gate_up_proj"), offsets);
  proj_out = masked_fill(proj_out, sentinel_mask);
  proj_out = apply_gate(m, proj_out);
  proj_out = grouped_linear(proj_out, m("down_proj"), offsets);
  proj_out = masked_fill(proj_out, sentinel_mask);
  Tensor weighted_out = mul(proj_out, unsqueeze(sample_weights_g, -1));
  const Tensor inv_perm = empty_like(perm);
  arange(perm.run(), perm.size(0)).reset();  // inv_perm[perm] = …
  weighted_out = index_rows(weighted_out, inv_perm);
  return added_up(weighted_out, call);
}

/// batched_mm_experts_forward: the weights of its expert are copied for each row.
Tensor batched_mm_experts(const ExpertsCall& call) {
  Module& m = call.experts;
  const Tensor selected_hidden_states = repeat_each(call.hidden_states, call.top_k_index.size(1));
  const Tensor sample_weights = reshape(call.top_k_weights, {-1});
  const Tensor expert_ids = clamp(reshape(call.top_k_index, {-1}));
  Tensor selected_weights = index_rows(m("gate_up_proj"), expert_ids);
  Tensor proj_out = batched_linear(selected_hidden_states, selected_weights);
  proj_out = apply_gate(m, proj_out);
  selected_weights = index_rows(m("down_proj"), expert_ids);
  proj_out = batched_linear(proj_out, selected_weights);
  const Tensor weighted_out = mul(proj_out, unsqueeze(sample_weights, -1));
  return added_up(weighted_out, call);
}

/// MixtralExperts.forward: one expert after the other; names of an iteration live into the next.
Tensor eager_experts(const ExpertsCall& call, const std::vector<std::int64_t>& tokens) {
  Module& m = call.experts;
  Tensor final_hidden_states = empty_like(call.hidden_states);
  Tensor expert_mask = one_hot(call.top_k_index, static_cast<std::int64_t>(tokens.size()));
  expert_mask = permute(expert_mask, {2, 1, 0});
  const auto hit = std::count_if(tokens.begin(), tokens.end(), [](std::int64_t n) { return n > 0; });
  Tensor expert_hit = sum(expert_mask, Dims{-1, -2});
  expert_hit = compare("aten::greater", std::move(expert_hit));
  expert_hit = nonzero(std::move(expert_hit), hit);
  const Tensors rows = unbind(expert_hit);
  Tensors place;  // top_k_pos, token_idx
  Tensor current_state, current_hidden_states;
  Tensors gate_up;
  std::size_t row = 0;
  for (std::size_t expert = 0; expert < tokens.size(); ++expert) {
    if (tokens[expert] == 0) continue;
    compare("aten::eq", select(rows[row++], 0, 0)).reset();
    const auto at = static_cast<std::int64_t>(expert);
    place = where_true(select(expert_mask, 0, at), tokens[expert]);
    current_state = index_rows(call.hidden_states, place[1]);
    gate_up = chunk(linear(current_state, select(m("gate_up_proj"), 0, at)), 2, -1);
    {
      Tensor activated = m["act_fn"](gate_up[0]);
      current_hidden_states = mul(std::move(activated), gate_up[1]);
    }
    current_hidden_states = linear(current_hidden_states, select(m("down_proj"), 0, at));
    current_hidden_states =
        mul(current_hidden_states, index_pairs(unsqueeze(call.top_k_weights, 2), place[1], place[0]));
    final_hidden_states =
        index_add_(final_hidden_states, place[1], to(current_hidden_states, final_hidden_states.dtype()));
  }
  return final_hidden_states;
}

}  // namespace tidemark
