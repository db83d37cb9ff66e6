#include "op_plan.h"

#include <unordered_map>

namespace tidemark {
namespace {

bool starts_with(const std::string& text, const char* head) { return text.rfind(head, 0) == 0; }

bool leaves_memory_uninitialised(const std::string& name) {
  for (const char* head : {"aten::empty", "aten::new_empty", "aten::resize", "aten::set_", "aten::_resize",
                           "aten::_empty", "aten::as_strided_", "aten::detach_", "aten::squeeze_", "aten::unsqueeze_",
                           "aten::t_", "aten::transpose_", "aten::swap", "aten::requires_grad_", "aten::record_stream",
                           "aten::rename_", "aten::retain_grad", "prim::", "profiler::"})
    if (starts_with(name, head)) return true;
  return false;
}

bool is_collective(const std::string& name) {
  return starts_with(name, "c10d::") || starts_with(name, "_c10d_functional::");
}

bool is_sized_by_data(const std::string& name) {
  for (const char* candidate : {"aten::nonzero", "aten::_unique", "aten::_unique2", "aten::unique_consecutive",
                                "aten::unique_dim", "aten::unique_dim_consecutive", "aten::_coalesce"})
    if (name == candidate) return true;
  return false;
}

bool takes_a_shape(const std::string& name) {
  for (const char* candidate :
       {"aten::ones_like", "aten::full_like", "aten::new_ones", "aten::new_full", "aten::randint_like"})
    if (name == candidate) return true;
  return false;
}

/// Floats element by element, of the type that its arguments have.
bool keeps_the_type(const std::string& name) {
  for (const char* candidate : {"aten::mul", "aten::add", "aten::sub", "aten::rsub", "aten::div", "aten::neg",
                                "aten::abs", "aten::exp", "aten::sqrt", "aten::rsqrt", "aten::reciprocal", "aten::pow",
                                "aten::tanh", "aten::sigmoid", "aten::clamp", "aten::clamp_min", "aten::clamp_max"})
    if (name == candidate) return true;
  return false;
}

/// Elementwise, or a reduction to which a zero says as much as many zeros.
bool is_even(const c10::OperatorHandle& op, const OpPlan& plan) {
  if (!plan.written.empty() || op.hasTag(at::Tag::nondeterministic_seeded)) return false;
  if (op.hasTag(at::Tag::pointwise)) return true;
  for (const char* candidate :
       {"aten::all", "aten::any", "aten::amax", "aten::amin", "aten::sum", "aten::count_nonzero"})
    if (plan.name == candidate) return true;
  return false;
}

OpPlan make_plan(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OpPlan plan;
  plan.name = schema.name();
  bool has_generator = false;
  if (is_collective(plan.name))
    return plan;  // what other ranks send is no function of the arguments: libnccl's stand-in answers
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.alias_info() && argument.alias_info()->isWrite()) plan.written.push_back(i);
    has_generator |= argument.name() == "generator";
  }
  for (const c10::Argument& result : schema.returns()) {
    const auto kind = result.type()->kind();
    const bool tensor = kind == c10::TypeKind::TensorType || kind == c10::TypeKind::ListType;
    if (tensor && !result.alias_info()) plan.returns_fresh = true;
  }
  // Other numbers that operations return (is_coalesced, q_zero_point, …) describe tensors; no data is read for them.
  plan.reads_scalar = plan.name == "aten::_local_scalar_dense" || plan.name == "aten::equal";
  plan.sized_by_data = is_sized_by_data(plan.name);
  plan.overwrites = plan.name == "aten::copy_" || plan.name == "aten::fill_" ||
                    schema.overload_name().find("out") != std::string::npos;
  plan.zeroes = plan.name == "aten::zero_" || plan.name == "aten::zeros" || plan.name == "aten::zeros_like" ||
                plan.name == "aten::new_zeros";
  plan.like_in_shape = takes_a_shape(plan.name);
  plan.draws = op.hasTag(at::Tag::nondeterministic_seeded);
  plan.draws_inside = plan.draws && !has_generator;
  plan.pointwise = plan.written.empty() && keeps_the_type(plan.name);
  plan.keeps_zeros = plan.written.empty() && (plan.name == "aten::bitwise_or" || plan.name == "aten::bitwise_and" ||
                                              plan.name == "aten::bitwise_xor");
  plan.joins = schema.overload_name().empty() && (plan.name == "aten::cat" || plan.name == "aten::stack");
  plan.even = is_even(op, plan);
  plan.uninitialised = leaves_memory_uninitialised(plan.name);
  return plan;
}

}  // namespace

const OpPlan& plan_of(const c10::OperatorHandle& op) {
  static thread_local std::unordered_map<const c10::FunctionSchema*, OpPlan> plans;
  const c10::FunctionSchema* schema = &op.schema();
  const auto found = plans.find(schema);
  return found != plans.end() ? found->second : plans.emplace(schema, make_plan(op)).first->second;
}

bool one_of(const std::string& name, std::initializer_list<const char*> names) {
  for (const char* candidate : names)
    if (name == candidate) return true;
  return false;
}

}  // namespace tidemark
