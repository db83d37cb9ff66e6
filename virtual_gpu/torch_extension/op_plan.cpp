#include "op_plan.h"

#include <unordered_map>

namespace tidemark {
namespace {

bool starts_with(const std::string& text, const char* head) { return text.rfind(head, 0) == 0; }

bool leaves_memory_uninitialised(const std::string& name) {
  for (const char* head : {"aten::empty", "aten::new_empty", "aten::resize", "aten::set_", "aten::_resize", "aten::_empty", "aten::as_strided_", "aten::detach_",
                           "aten::squeeze_", "aten::unsqueeze_", "aten::t_", "aten::transpose_", "aten::swap", "aten::requires_grad_", "aten::rename_", "aten::retain_grad", "prim::", "profiler::"})
    if (starts_with(name, head)) return true;
  return false;
}

OpPlan make_plan(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OpPlan plan;
  plan.name = schema.name();
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.alias_info() && argument.alias_info()->isWrite()) plan.written.push_back(i);
    if (argument.name() == "generator") plan.has_generator = true;
  }
  for (const c10::Argument& result : schema.returns()) {
    const auto kind = result.type()->kind();
    const bool tensor = kind == c10::TypeKind::TensorType || kind == c10::TypeKind::ListType;
    if (tensor && !result.alias_info()) plan.returns_fresh = true;
    if (kind == c10::TypeKind::BoolType || kind == c10::TypeKind::NumberType || kind == c10::TypeKind::IntType) plan.returns_scalar = true;
  }
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

}  // namespace tidemark
