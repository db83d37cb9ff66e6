#include "tensor/layout.h"

#include <algorithm>

#include "base/bytes.h"
#include "tensor/mismatch.h"

namespace tidemark {

void Dims::insert(int index, std::int64_t value) {
  push_back(value);
  const int where = at(index < 0 ? index : std::min(index, count_ - 1));
  std::rotate(values_.begin() + where, values_.begin() + count_ - 1, values_.begin() + count_);
}

void Dims::erase(int index) {
  const int where = at(index);
  std::rotate(values_.begin() + where, values_.begin() + where + 1, values_.begin() + count_);
  --count_;
}

bool Dims::operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

std::int64_t elements_of(const Dims& sizes) {
  std::int64_t elements = 1;
  for (std::int64_t size : sizes) elements = checked_multiply(elements, size);
  return elements;
}

bool Layout::is_contiguous() const {
  std::int64_t expected = 1;
  for (int d = sizes.count() - 1; d >= 0; --d) {
    if (sizes[d] == 0) return true;
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

bool Layout::is_dense() const {
  if (is_contiguous()) return true;
  const int count = sizes.count();
  int left = 0;  // dimensions that have a stride worth the name
  for (int d = 0; d < count; ++d) left += sizes[d] >= 2 ? 1 : 0;
  for (std::int64_t expected = 1; left > 0; --left) {
    int next = 0;
    while (next < count && (sizes[next] < 2 || strides[next] != expected)) ++next;
    if (next == count) return false;
    expected *= sizes[next];
  }
  return true;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides = sizes;
  std::int64_t stride = 1;
  for (int d = sizes.count() - 1; d >= 0; --d) {
    strides[d] = stride;
    if (d > 0) stride = checked_multiply(stride, std::max<std::int64_t>(sizes[d], 1));
  }
  return strides;
}

Dims infer_sizes(const Dims& sizes, std::int64_t elements) {
  Dims result = sizes;
  std::int64_t known = 1;
  int open = -1;
  for (int d = 0; d < sizes.count(); ++d) {
    if (sizes[d] == -1)
      open = d;
    else
      known *= sizes[d];
  }
  if (open >= 0) {
    check_match(known > 0 && elements % known == 0, "a size that cannot be inferred");
    result[open] = elements / known;
  }
  check_match(elements_of(result) == elements, "a view of another number of elements");
  return result;
}

std::optional<Dims> view_strides(const Layout& from, const Dims& sizes) {
  if (from.elements() == 0) return from.sizes == sizes ? from.strides : contiguous_strides(sizes);
  Dims strides = sizes;
  int view = sizes.count() - 1;
  std::int64_t base = from.sizes.count() ? from.strides[-1] : 1, chunk = 1, viewed = 1;
  for (int d = from.sizes.count() - 1; d >= 0; --d) {
    chunk *= from.sizes[d];
    if (d > 0 && (from.sizes[d - 1] == 1 || from.strides[d - 1] == chunk * base)) continue;
    while (view >= 0 && (viewed < chunk || sizes[view] == 1)) {
      strides[view] = viewed * base;
      viewed *= sizes[view--];
    }
    if (viewed != chunk) return std::nullopt;
    if (d > 0) {
      base = from.strides[d - 1];
      chunk = viewed = 1;
    }
  }
  if (from.sizes.count() == 0)
    while (view >= 0) strides[view--] = 1;
  return view == -1 ? std::optional(strides) : std::nullopt;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims result = a.count() >= b.count() ? a : b;
  const Dims& shorter = a.count() >= b.count() ? b : a;
  for (int d = 1; d <= shorter.count(); ++d) {
    std::int64_t& size = result[-d];
    check_match(size == shorter[-d] || size == 1 || shorter[-d] == 1, "sizes that do not broadcast");
    if (size == 1) size = shorter[-d];
  }
  return result;
}

namespace {

/// An operand's stride in the dimension `d` of the result; 0 where it is broadcast.
std::int64_t stride_in(const Layout& operand, const Dims& sizes, int d) {
  const int own = d - (sizes.count() - operand.sizes.count());
  if (own < 0 || (operand.sizes[own] == 1 && sizes[d] != 1)) return 0;
  return operand.strides[own];
}

/// 1: `a` must come after `b` (its stride is larger), -1: it is right, 0: nobody can tell.
int compare(std::span<const Layout* const> operands, const Dims& sizes, int a, int b) {
  for (const Layout* operand : operands) {
    const std::int64_t stride_a = stride_in(*operand, sizes, a), stride_b = stride_in(*operand, sizes, b);
    if (stride_a == 0 || stride_b == 0) continue;
    if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

Layout by_order_of_strides(std::span<const Layout* const> operands, const Dims& sizes) {
  const int count = sizes.count();
  std::array<int, Dims::kMost> order{};  // from the innermost
  for (int i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = count - 1 - i;
  for (int i = 1; i < count; ++i) {
    int moved = i;
    for (int before = i - 1; before >= 0; --before) {
      const int verdict =
          compare(operands, sizes, order[static_cast<std::size_t>(before)], order[static_cast<std::size_t>(moved)]);
      if (verdict > 0) {
        std::swap(order[static_cast<std::size_t>(before)], order[static_cast<std::size_t>(moved)]);
        moved = before;
      } else if (verdict < 0) {
        break;
      }
    }
  }
  Layout result{sizes, sizes};
  std::int64_t stride = 1;
  for (int i = 0; i < count; ++i) {
    const int d = order[static_cast<std::size_t>(i)];
    result.strides[d] = stride;
    stride *= std::max<std::int64_t>(sizes[d], 1);
  }
  return result;
}

}  // namespace

Layout elementwise_layout(std::span<const Layout* const> operands) {
  Dims sizes = operands.front()->sizes;
  bool same_sizes = true, all_contiguous = true, same_dense = true;
  for (const Layout* operand : operands) {
    if (!(operand->sizes == sizes)) {
      same_sizes = false;
      sizes = broadcast(sizes, operand->sizes);
    }
  }
  if (same_sizes) {
    for (const Layout* operand : operands) {
      all_contiguous = all_contiguous && operand->is_contiguous();
      same_dense = same_dense && operand->strides == operands.front()->strides;
    }
    if (all_contiguous) return {sizes, contiguous_strides(sizes)};
    if (same_dense && operands.front()->is_dense()) return *operands.front();
  }
  return by_order_of_strides(operands, sizes);
}

Layout like(const Layout& layout) {
  if (layout.is_dense()) return layout;
  const Layout* operand = &layout;
  return elementwise_layout({&operand, 1});
}

}  // namespace tidemark
