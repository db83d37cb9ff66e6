#include "decided_data.h"

#include <ATen/ops/arange.h>
#include <c10/util/accumulate.h>

#include <cmath>

#include "assumptions.h"
#include "stand_in.h"

namespace tidemark {
namespace {

Routing the_routing;

constexpr std::int64_t kFilledAtMostBytes = std::int64_t{16} << 20;   // beyond that, a one is written as a zero: masks of dropout and the like

bool one_of(const std::string& name, std::initializer_list<const char*> names) {
  for (const char* candidate : names)
    if (name == candidate) return true;
  return false;
}

void fill_with(const at::Tensor& output, bool ones) {
  const auto bytes = static_cast<std::int64_t>(output.nbytes());
  if (!output.is_non_overlapping_and_dense()) {
    if (bytes <= kFilledAtMostBytes) host_alias(output).fill_(ones ? 1 : 0);
    return;
  }
  if (ones && bytes <= kFilledAtMostBytes) host_alias(output).fill_(1);
  else if (!ones) tidemark_fill(output.data_ptr(), 0, output.nbytes());
}

/// Position i of `dim` gets i: a valid permutation, whatever the values.
void fill_in_order(const at::Tensor& output, std::int64_t dim) {
  if (output.dim() == 0) return fill_with(output, false);
  dim = dim < 0 ? dim + output.dim() : dim;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(output.dim()), 1);
  shape[static_cast<std::size_t>(dim)] = output.size(dim);
  host_alias(output).copy_(at::arange(output.size(dim)).view(shape).expand(output.sizes()));
}

/// Row r of `choices` (…, k) gets k distinct columns of `columns`: in turn over all of them, or, for the skewed share, the first k.
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

}  // namespace

void set_routing(Routing routing) { the_routing = routing; }

void decide(const OpPlan& plan, const Arguments& arguments, const std::vector<at::Tensor>& outputs) {
  const std::string& name = plan.name;
  for (const at::Tensor& output : outputs) {
    if (output.numel() == 0) continue;
    if (name == "aten::topk") {
      const at::Tensor& scores = arguments[0].toTensor();
      const std::int64_t dim = integer_argument(arguments, 2, -1);
      if (dim == -1 || dim == scores.dim() - 1) {
        fill_with_routing(output, scores.size(-1));
        assume(the_routing.skew > 0 ? "top-k of float scores: skewed routing" : "top-k of float scores: balanced routing");
      } else {
        fill_in_order(output, dim);
        assume("top-k of float scores: the first k");
      }
    } else if (one_of(name, {"aten::sort", "aten::argsort"})) {
      const std::size_t dim_position = arguments.size() > 1 && arguments[1].isInt() ? 1 : 2;
      fill_in_order(output, integer_argument(arguments, dim_position, -1));
      assume("sort of float data: order as it stands");
    } else if (name == "aten::multinomial") {
      fill_in_order(output, -1);
      assume("multinomial draw from float weights: the first ones");
    } else if (one_of(name, {"aten::isfinite", "aten::ne"})) {
      fill_with(output, true);
      assume(name == "aten::ne" ? "comparison (ne) of float data: true" : "float data is finite");
    } else {
      fill_with(output, false);
      if (one_of(name, {"aten::isnan", "aten::isinf"})) assume("float data is finite");
      else if (one_of(name, {"aten::lt", "aten::le", "aten::gt", "aten::ge", "aten::eq", "aten::isclose", "aten::logical_not", "aten::logical_and", "aten::logical_or"}))
        assume("comparison (" + name.substr(6) + ") of float data: false");
      else if (one_of(name, {"aten::argmax", "aten::argmin"})) assume(name.substr(6) + " of float data: 0");
      else if (one_of(name, {"aten::_to_copy", "aten::copy_"})) assume("float data turned into integers: 0");
    }
  }
}

}  // namespace tidemark
