#include "decided_data.h"

#include <ATen/ops/arange.h>
#include <c10/util/accumulate.h>

#include <cmath>

#include "../assumptions/assumptions.h"
#include "drawn_tokens.h"

namespace tidemark {
namespace {

Routing the_routing;

constexpr std::int64_t kFilledAtMostBytes =
    std::int64_t{16} << 20;  // beyond that, a one is written as a zero: masks of dropout and the like

void fill_with(const at::Tensor& output, bool ones) {
  const auto bytes = static_cast<std::int64_t>(output.nbytes());
  const bool small = bytes <= kFilledAtMostBytes;
  if (ones && small)
    host_alias(output).fill_(1);
  else if (!ones && (small || output.is_non_overlapping_and_dense()))
    clear(output);
}

/// Position i of `dim` gets i: a valid permutation, whatever the values.
void fill_in_order(const at::Tensor& output, std::int64_t dim) {
  if (output.dim() == 0) return fill_with(output, false);
  dim = dim < 0 ? dim + output.dim() : dim;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(output.dim()), 1);
  shape[static_cast<std::size_t>(dim)] = output.size(dim);
  host_alias(output).copy_(at::arange(output.size(dim)).view(shape).expand(output.sizes()));
}

/// Row r of `choices` (…, k) gets k distinct columns of `columns`: in turn over all of them, or, for the skewed share,
/// the first k.
void fill_with_routing(const at::Tensor& choices, std::int64_t columns) {
  const std::int64_t k = choices.size(-1);
  const std::int64_t rows = k ? choices.numel() / k : 0;
  const auto skewed_rows = static_cast<std::int64_t>(std::llround(the_routing.skew * static_cast<double>(rows)));
  at::Tensor flat = at::arange(rows * k).view({rows, k}).remainder(columns);
  if (skewed_rows > 0) flat.narrow(0, 0, skewed_rows).copy_(at::arange(k).expand({skewed_rows, k}));
  host_alias(choices).copy_(flat.view(choices.sizes()));
}

std::int64_t integer_argument(const Arguments& arguments, std::size_t position, std::int64_t otherwise) {
  return position < arguments.size() && arguments[position].isInt() ? arguments[position].toInt() : otherwise;
}

enum class Decision { zeros, ones, in_order, silent_zeros };

struct Rule {
  const char* name;
  Decision decision;
  const char* said;
};

/// What is decided, and how it is said.  Operations that are not named give zeros, and are named in what is said.
constexpr Rule kRules[] = {
    {"aten::isfinite", Decision::ones, "float data is finite"},
    {"aten::ne", Decision::ones, "comparison (ne) of float data: true"},
    {"aten::isnan", Decision::zeros, "float data is finite"},
    {"aten::isinf", Decision::zeros, "float data is finite"},
    {"aten::isposinf", Decision::zeros, "float data is finite"},
    {"aten::isneginf", Decision::zeros, "float data is finite"},
    {"aten::argmax", Decision::zeros, "argmax of float data: 0"},
    {"aten::argmin", Decision::zeros, "argmin of float data: 0"},
    {"aten::max", Decision::zeros, "position of the maximum of float data: 0"},
    {"aten::min", Decision::zeros, "position of the minimum of float data: 0"},
    {"aten::_to_copy", Decision::zeros, "float data turned into integers: 0"},
    {"aten::copy_", Decision::zeros, "float data turned into integers: 0"},
    {"aten::any", Decision::zeros, "any of float data: false"},
    {"aten::all", Decision::zeros, "all of float data: false"},
    {"aten::sort", Decision::in_order, "sort of float data: order as it stands"},
    {"aten::argsort", Decision::in_order, "sort of float data: order as it stands"},
    {"aten::multinomial", Decision::in_order, "multinomial draw from float weights: the first ones"},
    {"aten::_unique2", Decision::in_order, nullptr},  // sized_results.cpp says it;
    {"aten::empty_like", Decision::silent_zeros, nullptr},
};

/// Masks, seeds and positions that kernels hand to their own backward kernels: no decision hangs on them.
bool is_for_kernels_alone(const std::string& name) {
  for (const char* part : {"dropout", "attention", "max_pool", "_norm", "rnn", "cudnn", "fractional", "rrelu", "_like",
                           "linalg", "_lu", "flash", "efficient"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

bool compares(const std::string& name) {
  return one_of(name, {"aten::lt", "aten::le", "aten::gt", "aten::ge", "aten::eq", "aten::isclose", "aten::signbit",
                       "aten::logical_not", "aten::logical_and", "aten::logical_or", "aten::logical_xor"});
}

Rule rule_for(const std::string& name) {
  for (const Rule& rule : kRules)
    if (name == rule.name) return rule;
  return {nullptr, is_for_kernels_alone(name) ? Decision::silent_zeros : Decision::zeros, nullptr};
}

/// `x == x` and `x != x` ask for NaN (at::isfinite does, ATen/native/TensorCompare.cpp): that float data is finite is
/// decided.
bool asks_for_nan(const OpPlan& plan, const Arguments& arguments) {
  return one_of(plan.name, {"aten::eq", "aten::ne"}) && arguments[1].isTensor() &&
         are_the_same_bytes(arguments[0], arguments[1]);
}

void say(const Rule& rule, const std::string& name) {
  if (rule.said) return assume(rule.said);
  if (rule.name || rule.decision == Decision::silent_zeros) return;
  const std::string plain = name.substr(name.find("::") + 2);
  assume(compares(name) ? "comparison (" + plain + ") of float data: false"
                        : "integers that " + plain + " computes from float data: 0");
}

/// The dimension along which indices run: sort(self, dim, …), sort.stable(self, stable, dim, …), otherwise the last.
std::int64_t order_dimension(const Arguments& arguments) {
  const std::int64_t first = integer_argument(arguments, 1, -1);
  return arguments.size() > 1 && arguments[1].isInt() ? first : integer_argument(arguments, 2, -1);
}

/// argmax(self, dim?, keepdim) along the last dimension, and multinomial(self, 1, …).
bool draws_one_of_the_last_dimension(const OpPlan& plan, const Arguments& arguments, const at::Tensor& output) {
  if (plan.name == "aten::multinomial") return output.size(-1) == 1;
  if (plan.name != "aten::argmax" || arguments[0].toTensor().dim() == 0) return false;
  const std::int64_t dimensions = arguments[0].toTensor().dim(), dim = integer_argument(arguments, 1, dimensions);
  return dim == -1 || dim == dimensions - 1;
}

void decide_top_k(const Arguments& arguments, const at::Tensor& output) {
  const at::Tensor& scores = arguments[0].toTensor();
  const std::int64_t dim = integer_argument(arguments, 2, -1);
  if (dim == -1 || dim == scores.dim() - 1) {
    fill_with_routing(output, scores.size(-1));
    assume(the_routing.skew > 0 ? "top-k of float scores: skewed routing" : "top-k of float scores: balanced routing");
  } else {
    fill_in_order(output, dim);
    assume("top-k of float scores: the first k");
  }
}

}  // namespace

bool are_the_same_bytes(const c10::IValue& one, const c10::IValue& other) {
  const at::Tensor &a = one.toTensor(), &b = other.toTensor();
  return is_plain(a) && is_plain(b) && a.const_data_ptr() == b.const_data_ptr() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

void set_routing(Routing routing) { the_routing = routing; }

void fill_like(const OpPlan& plan, const Arguments& arguments, const std::vector<at::Tensor>& outputs,
               bool under_a_mode) {
  if (!under_a_mode) return;  // the fill_ or random_ that the operation calls was made true
  const bool asked = plan.name == "aten::full_like" || plan.name == "aten::new_full";
  for (const at::Tensor& output : outputs) {
    if (output.nbytes() > kComputedAtMostBytes)
      assume("integer data beyond 256 MiB: not computed");
    else if (asked)
      host_alias(output).fill_(arguments[plan.name == "aten::full_like" ? 1 : 2].toScalar());
    else if (plan.name == "aten::randint_like")
      assume("integers drawn under a dispatch mode: 0");
    else
      host_alias(output).fill_(1);
  }
}

void decide(const OpPlan& plan, const Arguments& arguments, const std::vector<at::Tensor>& outputs) {
  for (const at::Tensor& output : outputs) {
    if (output.numel() == 0) continue;
    if (plan.name == "aten::topk") {
      decide_top_k(arguments, output);
      continue;
    }
    if (asks_for_nan(plan, arguments)) {
      fill_with(output, plan.name == "aten::eq");
      assume("float data is finite");
      continue;
    }
    const Rule rule = rule_for(plan.name);
    if (rule.decision == Decision::in_order)
      fill_in_order(output, plan.name == "aten::multinomial" || plan.sized_by_data ? -1 : order_dimension(arguments));
    else
      fill_with(output, rule.decision == Decision::ones);
    const std::string drawn =
        draws_one_of_the_last_dimension(plan, arguments, output)
            ? draw_tokens(output, arguments[0].toTensor().size(-1), plan.name == "aten::multinomial")
            : "";
    if (drawn.empty())
      say(rule, plan.name);
    else
      assume(drawn);
  }
}

}  // namespace tidemark
