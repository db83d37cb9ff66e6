#include "host_copies.h"

#include <ATen/ops/from_blob.h>

#include "../stand_in.h"
#include "host_data.h"
#include "host_twin.h"

namespace tidemark {
namespace {

/// Element after element in the order of addresses, in both.
bool lie_alike(const at::Tensor& one, const at::Tensor& other) {
  return one.is_non_overlapping_and_dense() &&
         (one.strides() == other.strides() || (one.is_contiguous() && other.is_contiguous()));
}

/// Writes the parts of `to` that it is told of, and clears those between.
class PartByPart {
 public:
  PartByPart(const at::Tensor& to, const at::Tensor& from)
      : to_(static_cast<std::byte*>(to.mutable_data_ptr())),
        from_(static_cast<std::byte*>(const_cast<void*>(from.const_data_ptr()))),
        to_options_(to.options()),
        from_options_(from.options()),
        to_width_(to.element_size()),
        from_width_(from.element_size()) {}

  void copy(std::size_t first_byte, std::size_t last_byte) {
    const std::size_t first = first_byte / from_width_, last = (last_byte + from_width_ - 1) / from_width_;
    const auto elements = static_cast<std::int64_t>(last - first);
    clear_until(first);
    at::from_blob(to_ + first * to_width_, {elements}, to_options_)
        .copy_(at::from_blob(from_ + first * from_width_, {elements}, from_options_));
    done_ = last;
  }
  void clear_until(std::size_t element) {
    if (element > done_) tidemark_fill(to_ + done_ * to_width_, 0, (element - done_) * to_width_);
  }

 private:
  std::byte *const to_, *const from_;
  const at::TensorOptions to_options_, from_options_;
  const std::size_t to_width_, from_width_;
  std::size_t done_ = 0;  // elements
};

}  // namespace

std::size_t reach_bytes(const at::Tensor& tensor) {
  std::int64_t last = 0;
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) last += (tensor.size(dim) - 1) * tensor.stride(dim);
  return static_cast<std::size_t>(last + 1) * tensor.element_size();
}

bool is_clear(const at::Tensor& tensor) {
  bool written = false;
  tidemark_visit_written(
      tensor.const_data_ptr(), reach_bytes(tensor),
      [](void* found, std::size_t, std::size_t) { *static_cast<bool*>(found) = true; }, &written);
  return !written;
}

bool copy_written_pages(const at::Tensor& self, const at::Tensor& source) {
  if (!is_in_host_pages(self) || !is_in_host_pages(source) || self.nbytes() < kLargeHostBytes ||
      self.sizes() != source.sizes() || self.storage().data() == source.storage().data())
    return false;
  if (self.is_conj() || self.is_neg() || source.is_conj() || source.is_neg()) return false;
  const bool unknown = self.is_floating_point() && is_unknown(source);
  if (lie_alike(self, source)) {
    const NoHooks below;
    PartByPart parts(self, source);
    tidemark_visit_written(
        source.const_data_ptr(), source.nbytes(),
        [](void* to, std::size_t first, std::size_t last) { static_cast<PartByPart*>(to)->copy(first, last); }, &parts);
    parts.clear_until(static_cast<std::size_t>(self.numel()));
  } else if (!is_clear(source) || !is_clear(self)) {
    return false;
  }
  if (unknown && self.is_non_overlapping_and_dense())
    mark_unknown(self);
  else if (!unknown)
    mark_known(self);
  return true;
}

}  // namespace tidemark
