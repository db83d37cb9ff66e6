// torch: aten/src/ATen/native/Linear.cpp, einsum and sumproduct_pair (2.11.0): operands are shown with the same
// dimensions, and what is summed over goes through bmm
#include "ops/einsum.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace tidemark {
namespace {

constexpr char kEllipsis = '.';

/// The letters of each operand and of the result, `...` as one dot.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
  bool has_result = false;
};

Equation parse(std::string_view text) {
  Equation equation;
  equation.operands.emplace_back();
  std::string* term = &equation.operands.back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      term = &equation.operands.emplace_back();
    } else if (text[i] == '-') {
      equation.has_result = true;
      term = &equation.result;
      ++i;
    } else if (text[i] == '.') {
      term->push_back(kEllipsis);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      term->push_back(text[i]);
    }
  }
  return equation;
}

/// The letters in the order of torch's subscripts, capitals first, with `...` in the place of a letter: those of the
/// result, then those that are summed over.
struct LetterOrder {
  std::string letters;
  int kept = 0;  // of the letters, those of the result
  int ellipsis_dims = 0;
};

LetterOrder order_of(const Equation& equation, const Tensors& operands) {
  LetterOrder order;
  std::string all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& letters = equation.operands[i];
    if (letters.find(kEllipsis) != std::string::npos)
      order.ellipsis_dims = std::max(order.ellipsis_dims, operands[i].dims() - static_cast<int>(letters.size()) + 1);
    all += letters;
  }
  std::sort(all.begin(), all.end());
  order.letters = equation.result;
  if (!equation.has_result) {
    if (order.ellipsis_dims > 0) order.letters.push_back(kEllipsis);
    for (const char letter : all)
      if (letter != kEllipsis && std::count(all.begin(), all.end(), letter) == 1) order.letters.push_back(letter);
  }
  order.kept = static_cast<int>(order.letters.size());
  for (const char letter : all)
    if (order.letters.find(letter) == std::string::npos) order.letters.push_back(letter);
  return order;
}

/// How many dimensions the first `count` letters are.
int dims_of(const LetterOrder& order, int count) {
  const std::string_view letters = std::string_view(order.letters).substr(0, static_cast<std::size_t>(count));
  return letters.find(kEllipsis) == std::string_view::npos ? count : count - 1 + order.ellipsis_dims;
}

/// The operand with a dimension for each letter, of size 1 where it has none.
Tensor aligned(Tensor x, const std::string& letters, const LetterOrder& order) {
  const int own_ellipsis = x.dims() - static_cast<int>(letters.size()) + 1;
  int added = x.dims();
  Dims places;
  const auto add_missing = [&] {
    x = unsqueeze(std::move(x), added);
    places.push_back(added++);
  };
  for (const char letter : order.letters) {
    const std::size_t at = letters.find(letter);
    const bool behind = at != std::string::npos && letters.find(kEllipsis) < at;
    const int place = static_cast<int>(at) + (behind ? own_ellipsis - 1 : 0);
    const int wanted = letter == kEllipsis ? order.ellipsis_dims : 1;
    const int has = at == std::string::npos ? 0 : letter == kEllipsis ? own_ellipsis : 1;
    for (int i = 0; i < wanted - has; ++i) add_missing();
    for (int i = 0; i < has; ++i) places.push_back(place + i);
  }
  return permute(std::move(x), places);
}

/// The product of two, summed over dimensions that both have.  torch: sumproduct_pair
Tensor sum_of_products(Tensor left, Tensor right, const Dims& summed) {
  if (summed.count() == 0) return mul(std::move(left), std::move(right));
  std::vector<std::int64_t> both, only_left, only_right, sums(summed.begin(), summed.end());
  for (int d = 0; d < left.dims(); ++d) {
    if (std::find(sums.begin(), sums.end(), d) != sums.end()) continue;
    std::vector<std::int64_t>& kind = left.size(d) == 1 ? only_right : right.size(d) == 1 ? only_left : both;
    kind.push_back(d);
  }
  // torch 2.9.1 to 2.15.0: swap_lo_ro, so that the product comes out in order
  if (!only_left.empty() && !only_right.empty() && only_right.back() < only_left.front()) {
    std::swap(left, right);
    std::swap(only_left, only_right);
  }
  const auto joined = [](std::initializer_list<const std::vector<std::int64_t>*> parts) {
    Dims order;
    for (const auto* part : parts)
      for (const std::int64_t d : *part) order.push_back(d);
    return order;
  };
  const auto size = [](const Tensor& x, const std::vector<std::int64_t>& dims) {
    std::int64_t product = 1;
    for (const std::int64_t d : dims) product *= x.size(static_cast<int>(d));
    return product;
  };
  const std::int64_t batch = size(left, both), rows = size(left, only_left), inner = size(left, sums);
  const std::int64_t columns = size(right, only_right);
  const Dims result_order = joined({&both, &only_left, &sums, &only_right});
  Dims sizes, back = result_order;
  for (int i = 0; i < result_order.count(); ++i) {
    const int d = static_cast<int>(result_order[i]);
    const bool is_sum = std::find(sums.begin(), sums.end(), d) != sums.end();
    sizes.push_back(is_sum ? 1 : left.size(d) == 1 ? right.size(d) : left.size(d));
    back[d] = i;
  }
  left = permute(std::move(left), result_order);
  left = reshape(std::move(left), {batch, rows, inner});
  right = permute(std::move(right), joined({&both, &sums, &only_right, &only_left}));
  right = reshape(std::move(right), {batch, inner, columns});
  Tensor product = bmm(left, right);
  product = view(std::move(product), sizes);
  return permute(std::move(product), back);
}

/// What is summed over before the product, because the other operand has it not.
Dims only_of(const Tensor& x, const Tensor& other, int kept) {
  Dims dims;
  for (int d = kept; d < x.dims(); ++d)
    if (x.size(d) != 1 && other.size(d) == 1) dims.push_back(d);
  return dims;
}

}  // namespace

int einsum_dims(std::string_view equation, const Tensors& operands) {
  const LetterOrder order = order_of(parse(equation), operands);
  return dims_of(order, static_cast<int>(order.letters.size()));
}

Tensor einsum(std::string_view text, Tensors operands) {
  const Op op(operands[0], "aten::einsum");
  const Tensors arguments = operands;
  for (Tensor& operand : operands) operand = autocast_low(std::move(operand));  // a list: the first is cast first
  const Setting<bool> inside(operands[0].run().autocast.enabled, false);        // autocast_mode.h, no_autocast
  const Equation equation = parse(text);
  const LetterOrder order = order_of(equation, operands);
  const int kept = dims_of(order, order.kept), all = dims_of(order, static_cast<int>(order.letters.size()));
  Tensors shown;
  for (std::size_t i = 0; i < operands.size(); ++i) shown.push_back(aligned(operands[i], equation.operands[i], order));
  if (shown.size() == 1) {
    Dims rest;
    for (int d = kept; d < all; ++d) rest.push_back(d);
    return all > kept ? sum(shown[0], rest) : shown[0];
  }
  Tensor a = std::move(shown[0]), b = std::move(shown[1]);
  Dims both, own_a = only_of(a, b, kept), own_b = only_of(b, a, kept);
  for (int d = kept; d < all; ++d)
    if (a.size(d) != 1 && b.size(d) != 1) both.push_back(d);
  if (own_a.count() > 0) a = sum(std::move(a), own_a, true);
  if (own_b.count() > 0) b = sum(std::move(b), own_b, true);
  Tensor y = sum_of_products(std::move(a), std::move(b), both);
  if (all == kept) return y;
  Dims sizes;
  for (int d = 0; d < kept; ++d) sizes.push_back(y.size(d));
  return view(std::move(y), sizes);
}

}  // namespace tidemark
