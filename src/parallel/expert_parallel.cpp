#include "parallel/expert_parallel.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

bool has_experts(const Module& m) { return m.name() == "experts" && m.has_parameter("gate_up_proj"); }

/// Calls visit(block, experts) for each layer's block of a gate and experts: what the names of base_model_ep_plan
/// match.
template <class Visit>
void visit_experts(Module& m, Visit&& visit) {
  for (const std::unique_ptr<Module>& child : m.children()) {
    if (has_experts(*child)) visit(m, *child);
    visit_experts(*child, visit);
  }
}

class ExpertParallel {
 public:
  ExpertParallel(Run& run, Module& root, std::int64_t degree) : run_(run) {
    router_hooks_.after_forward_of_several = [this, degree](Module& m, Tensors& outputs) {
      mask(outputs, m("weight").size(0) / degree);
    };
    experts_hooks_.before_forward_of_several = [this](Module& m, Tensors& inputs) { enter(m, inputs); };
    experts_hooks_.after_forward = [this](Module&, Tensor& output) { output = hand_on_one(output); };
    experts_hooks_.over = [this](Module& m) { leave(m); };
    visit_experts(root, [&](Module& block, Module& experts) {
      block["gate"].hooks = &router_hooks_;
      experts.hooks = &experts_hooks_;
      for (const std::shared_ptr<Parameter>& parameter : experts.parameters()) sharded_.push_back(parameter->tensor);
    });
  }

  bool is_sharded(const Tensor& parameter) const {
    return std::any_of(sharded_.begin(), sharded_.end(), [&](const Tensor& part) { return part.is(parameter); });
  }

 private:
  /// A torch.autograd.Function that hands a tensor on: _AllReduceBackward and _AllReduceForward sum over ranks in
  /// place.
  Tensor hand_on_one(Tensor x) { return std::move(hand_on({std::move(x)}, nothing_)[0]); }

  /// EpRouterParallel.transform_output_post_forward: scores of other ranks' experts become 0, their numbers `local`.
  void mask(Tensors& outputs, std::int64_t local) {
    const Tensors output = outputs;  // a local of tp_forward
    Tensor router_scores = output[1], router_indices = output[2];
    if (run_.grad_enabled && router_scores.requires_grad()) router_scores = hand_on_one(router_scores);
    Tensor owner = floor_divide(router_indices);
    const Tensor non_local_mask = compare("aten::ne", std::move(owner));
    router_scores = masked_fill(router_scores, non_local_mask);
    router_indices = masked_fill(router_indices, non_local_mask);
    if (local > 1)
      router_indices = fmod(router_indices);
    else
      router_indices = filled_where(filled_where(router_indices, "aten::gt"), "aten::lt");
    router_indices = filled_where(router_indices, "aten::eq");
    outputs[1] = std::move(router_scores);
    outputs[2] = std::move(router_indices);
  }

  /// x.masked_fill(x == …, …)
  static Tensor filled_where(const Tensor& x, const char* comparison) {
    const Tensor mask = compare(comparison, x);
    return masked_fill(x, mask);
  }

  /// MoeExpertsParallel.transform_inputs_pre_forward, and _use_local_dtensor_params: this rank's part of each parameter
  /// as a tensor of its own.
  void enter(Module& experts, Tensors& inputs) {
    for (Tensor& input : inputs)
      if (is_floating(input.dtype())) input = hand_on_one(input);
    for (const std::shared_ptr<Parameter>& parameter : experts.parameters()) {
      whole_.push_back(parameter->tensor);
      parameter->tensor = hand_on_one(parameter->tensor);
    }
  }

  void leave(Module& experts) {
    for (std::size_t i = 0; i < experts.parameters().size(); ++i) experts.parameters()[i]->tensor = whole_[i];
    whole_.clear();
  }

  Run& run_;
  const std::function<void()> nothing_ = [] {};
  ModuleHooks router_hooks_, experts_hooks_;
  TensorList sharded_, whole_;
};

/// The first DTensor that is made on the card asks for its sizes by fake tensors, which bring up the device that they
/// are on: once as "cuda", once as "cuda:0".  torch: torch/_subclasses/fake_tensor.py, init_gpu_context (2.11.0)
void bring_up_device(Run& run) {
  if (!run.torch().fake_tensors_begin_on_device) return;
  const Op op(run, "aten::empty");
  for (int name = 0; name < 2; ++name) empty(run, Dims{1}, Dtype::f32).reset();
}

}  // namespace

std::shared_ptr<const ModuleHooks> shard_experts(Module& root, std::int64_t degree) {
  const auto hooks = std::make_shared<ModuleHooks>();
  hooks->before_load = bring_up_device;
  bool found = false;
  visit_experts(root, [&](Module&, Module& experts) {
    if (!found) experts.hooks = hooks.get();
    found = true;
    for (const std::shared_ptr<Parameter>& parameter : experts.parameters()) {
      std::int64_t& count = parameter->sizes[0];
      if (count % degree != 0)
        throw Error(Errc::bad_value, fmt::format("{} experts cannot be shared evenly by {} ranks", count, degree),
                    "ep.degree", "transformers asks for a number that divides them");
      count /= degree;
    }
  });
  if (!found) throw Error(Errc::unsupported, "the model has no experts", "parallel");
  return hooks;
}

StepHooks expert_parallel(Run& run, Module& root, std::int64_t degree) {
  const auto parts = std::make_shared<ExpertParallel>(run, root, degree);
  StepHooks hooks;
  hooks.group_parameters(trainable_parameters(root), [&](const Tensor& t) { return parts->is_sharded(t); });
  hooks.keeps = parts;
  return hooks;
}

}  // namespace tidemark
