// What a spec's `tp` asks for, as a plan for parallelize_module.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "estimate/strategies.h"
#include "estimate/tensor_parallel_plan.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 5> kStyleNames{"colwise", "rowwise", "sequence", "prepare_input",
                                                      "prepare_output"};

/// One entry of the plan, by the names of torch's arguments.
struct RuleSpec {
  ParallelStyle style = ParallelStyle::colwise;
  std::string input_layouts, output_layouts, desired_input_layouts, desired_output_layouts;
  std::optional<bool> use_local_output;

  static void fields(RuleSpec& self, const FieldVisitor& visit) {
    visit("style", self.style, FieldInfo{.names = kStyleNames});
    visit("input_layouts", self.input_layouts, FieldInfo{});
    visit("output_layouts", self.output_layouts, FieldInfo{});
    visit("desired_input_layouts", self.desired_input_layouts, FieldInfo{});
    visit("desired_output_layouts", self.desired_output_layouts, FieldInfo{});
    visit("use_local_output", self.use_local_output, FieldInfo{});
  }
};

/// "replicate" or "shard(1)"
std::optional<Placement> placement_of(const std::string& text, const ValuePath& path) {
  if (text.empty()) return {};
  if (text == "replicate") return Placement{};
  constexpr std::string_view kShard = "shard(";
  int dimension = 0;
  const char *begin = text.data() + std::min(kShard.size(), text.size()), *end = text.data() + text.size();
  const auto [next, error] = std::from_chars(begin, end, dimension);
  const bool is_shard = text.starts_with(kShard) && error == std::errc() && end - next == 1 && *next == ')';
  if (!is_shard || dimension < -1 || dimension > 2)
    throw Error(Errc::bad_value, Value(text).quoted() + " is not a placement", path.text(),
                "write replicate, shard(1) for tokens, or shard(-1) for features");
  return Placement::split(dimension);
}

ParallelRule rule_of(const std::string& pattern, const Value& value) {
  const ValuePath path = ValuePath("tp.plan") / pattern;
  Value map = value;
  if (value.as_text()) {
    map = Value::Map();
    map.set("style", value);
  }
  RuleSpec asked;
  read_fields(map, asked, path);
  ParallelRule rule{.pattern = pattern,
                    .style = asked.style,
                    .input_layouts = placement_of(asked.input_layouts, path / "input_layouts"),
                    .output_layouts = placement_of(asked.output_layouts, path / "output_layouts"),
                    .use_local_output = asked.use_local_output};
  const bool is_input = rule.style == ParallelStyle::prepare_input;
  const std::string& desired = is_input ? asked.desired_input_layouts : asked.desired_output_layouts;
  const std::string& other = is_input ? asked.desired_output_layouts : asked.desired_input_layouts;
  const bool prepares = is_input || rule.style == ParallelStyle::prepare_output;
  if (prepares == desired.empty() || !other.empty())
    throw Error(Errc::bad_value, "desired layouts go with prepare_input and prepare_output, one of them with each",
                path.text());
  if (prepares) rule.desired_layouts = *placement_of(desired, path / "desired_layouts");
  return rule;
}

std::vector<ParallelRule> plan_of(const TpSpec& asked, Module& root, const Value& model_config, const Assume& assume) {
  if (asked.plan.is_null()) {
    assume(asked.sequence_parallel ? "tp: the plan of PyTorch's tutorial, with sequence parallelism"
                                   : "tp: attention and MLP are split as base_model_tp_plan of transformers says");
    return default_plan(root, asked.sequence_parallel, model_config);
  }
  if (asked.sequence_parallel)
    throw Error(Errc::bad_value, "a plan says by itself what is split by tokens", "tp.sequence_parallel",
                "leave out one of the two");
  const Value::Map* entries = asked.plan.as_map();
  if (!entries || entries->empty())
    throw Error(Errc::bad_value, "expected a map, found " + asked.plan.quoted(), "tp.plan",
                "{\"model.layers.*.mlp.down_proj\": \"rowwise\", ...}");
  std::vector<ParallelRule> plan;
  for (const Value::Item& entry : *entries) plan.push_back(rule_of(entry.key, entry.value));
  return plan;
}

/// The loss shows logits by the size of the vocabulary.
void replicate_logits(std::vector<ParallelRule>& plan) {
  for (ParallelRule& rule : plan) {
    const std::string_view name = std::string_view(rule.pattern).substr(rule.pattern.rfind('.') + 1);
    if (rule.style != ParallelStyle::colwise || (name != "lm_head" && name != "embed_out")) continue;
    if (!rule.output_layouts) rule.output_layouts = Placement{};
    if (rule.output_layouts != Placement{} || !rule.use_local_output.value_or(true))
      throw Error(Errc::unsupported, "the loss of transformers does not take logits that are split", "tp.plan",
                  "set output_layouts of " + rule.pattern + " to replicate");
  }
}

void check_tp(const Spec& spec) {
  using enum Parallel;
  if (spec.parallel != none && spec.parallel != ddp && spec.parallel != fsdp2)
    refuse("tp", "with this strategy around it, it is not modelled",
           "set parallel to none, ddp or fsdp2 (DeepSpeed takes no DTensors)");
  if (spec.load == Load::wrapped)
    refuse("load", "parallelize_module is known of weights that are on the card", "leave it out");
  if (spec.grad_scaler) refuse("grad_scaler", "with tensors that are split it is not modelled");
}

/// PipelineStage.get_fwd_send_ops: parts of the tokens are DTensors between layers, and torch 2.11.0 sends none
/// ("c10d.send.default does not have a sharding strategy").
void check_stages(const std::vector<ParallelRule>& plan) {
  const Placement tokens = Placement::split(1);
  for (const ParallelRule& rule : plan)
    if (rule.style == ParallelStyle::sequence || rule.input_layouts == tokens || rule.output_layouts == tokens ||
        rule.desired_layouts == tokens)
      throw Error(Errc::unsupported,
                  fmt::format("{}: PyTorch does not send parts of the tokens from stage to stage", rule.pattern),
                  "tp.plan", "leave sequence_parallel out, or pp");
}

/// What is not known of the optimizer, and what PyTorch itself refuses.
void check_optimizer(const Spec& spec, const StepHooks& hooks) {
  if (spec.optimizer == OptimizerName::adafactor)
    refuse("optimizer", "torch.optim.Adafactor does not take tensors that are split");
  check_dtensor_optimizer(spec);
  const bool is_adam = spec.optimizer == OptimizerName::adamw || spec.optimizer == OptimizerName::adam;
  const bool plain = !spec.maximize && (spec.optimizer == OptimizerName::adamw || spec.weight_decay.value_or(0) == 0);
  const bool moves = std::any_of(hooks.gradient_placements.begin(), hooks.gradient_placements.end(),
                                 [](GradientPlacement p) { return p >= GradientPlacement::whole; });
  if (moves && !(is_adam && plain))
    refuse("optimizer", "where embeddings or norms are split, AdamW and Adam without weight decay are known");
  if (spec.max_grad_norm && hooks.group_sizes.size() > 1)
    refuse("max_grad_norm", "clip_grad_norm_ does not take tensors that are split together with others",
           "put all modules that train into tp.plan");
}

}  // namespace

std::shared_ptr<TensorParallel> split_modules(Run& run, Module& root, const Spec& spec, const Value& model_config,
                                              const Assume& assume) {
  if (!spec.tp) return nullptr;
  check_tp(spec);
  std::vector<ParallelRule> plan = plan_of(*spec.tp, root, model_config, assume);
  replicate_logits(plan);
  check_heads(plan, spec.tp->degree, model_config);
  if (spec.pp) check_stages(plan);
  auto split = std::make_shared<TensorParallel>(run, root, Mesh{spec.tp->degree, place_of(spec).part}, plan,
                                                spec.pp.has_value());
  if (spec.parallel == Parallel::ddp) split->localize(root);
  return split;
}

void group_parameters(const std::vector<Wrapped>& parts, const Spec& spec, StepHooks& hooks) {
  TensorList trainable;
  std::vector<GradientPlacement> placements;
  for (const Wrapped& part : parts) {
    placements.insert(placements.end(), part.placements.begin(), part.placements.end());
    for (const Tensor& parameter : trainable_parameters(*part.root)) trainable.push_back(parameter);
  }
  hooks.optimizer_parameters.clear();
  hooks.group_parameters(trainable, [](const Tensor& t) { return t.impl().distributed; });
  placements.resize(hooks.optimizer_parameters.size(), GradientPlacement::plain);
  hooks.gradient_placements = std::move(placements);
  check_optimizer(spec, hooks);
}

}  // namespace tidemark
