// Sizes and strides, and what PyTorch decides by them: whether a tensor is dense, can be viewed as another shape, and
// how the result of an elementwise operation lies in memory.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "base/check.h"

namespace tidemark {

/// One number per dimension; at most kMost dimensions.
class Dims {
 public:
  static constexpr int kMost = 6;
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) {
    for (std::int64_t value : values) push_back(value);
  }

  int count() const { return count_; }
  /// A negative index counts from the end.
  std::int64_t operator[](int index) const { return values_[static_cast<std::size_t>(at(index))]; }
  std::int64_t& operator[](int index) { return values_[static_cast<std::size_t>(at(index))]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + count_; }
  void push_back(std::int64_t value) {
    TM_CHECK(count_ < kMost, "too many dimensions");
    values_[static_cast<std::size_t>(count_++)] = value;
  }
  void insert(int index, std::int64_t value);
  void erase(int index);
  void swap(int a, int b) { std::swap((*this)[a], (*this)[b]); }
  bool operator==(const Dims& other) const;
  /// The index of a dimension that may be counted from the end.
  int at(int index) const {
    const int found = index < 0 ? index + count_ : index;
    TM_CHECK(found >= 0 && found < count_, "no such dimension");
    return found;
  }

 private:
  std::array<std::int64_t, kMost> values_{};
  int count_ = 0;
};

/// Throws Error{bad_value} past 2^63.
std::int64_t elements_of(const Dims& sizes);

struct Layout {
  Dims sizes, strides;

  std::int64_t elements() const { return elements_of(sizes); }
  bool is_contiguous() const;
  /// Every element once, in some order of the dimensions: c10::TensorImpl::is_non_overlapping_and_dense.
  bool is_dense() const;
};

Dims contiguous_strides(const Dims& sizes);

/// Sizes with one -1 resolved.
Dims infer_sizes(const Dims& sizes, std::int64_t elements);

/// The strides with which a tensor shows as `sizes` without a copy, if it can.  torch: at::detail::computeStride
std::optional<Dims> view_strides(const Layout& from, const Dims& sizes);

/// Throws InternalError when they do not go together.
Dims broadcast(const Dims& a, const Dims& b);

/// How the result of an elementwise operation lies, given its operands: TensorIteratorBase::compute_fast_setup_type,
/// reorder_dimensions and allocate_or_resize_outputs.
Layout elementwise_layout(std::span<const Layout* const> operands);

/// Strides of a new tensor "like" this one (torch.preserve_format): its own when dense, else as an elementwise result.
Layout like(const Layout& layout);

}  // namespace tidemark
