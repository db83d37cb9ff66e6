// A tensor with a shape, a type and a place in memory, and no data.  Copies share it, as Python's names do.
#pragma once
#include <string_view>

#include "base/inline_vector.h"
#include "memory/allocator.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"
#include "tensor/ref.h"

namespace tidemark {

class Run;
struct Node;
struct TensorImpl;

/// Memory of one allocation, freed with its last tensor.  torch: c10::StorageImpl
struct Storage {
  Run* run = nullptr;
  AllocationId id = kNoBytes;
  std::uint32_t record = 0;  // in the run's ledger
  std::int32_t references = 0;
  std::uint32_t version = 0;  // how often an operation wrote over it (torch: VariableVersion)
  static void destroy(Storage* storage);
};

/// torch: at::Tensor.  Functions take it by value and let go of it before they return (CONTRIBUTING.md, rule 1).
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorImpl* impl) : impl_(impl) {}

  explicit operator bool() const { return static_cast<bool>(impl_); }
  bool is(const Tensor& other) const { return impl_ == other.impl_; }
  TensorImpl& impl() const { return *impl_; }
  void reset() { impl_.reset(); }

  Run& run() const;
  const Layout& layout() const;
  const Dims& sizes() const;
  /// As the program sees them: of a part, those of the tensor that all devices hold together.
  Dims whole_sizes() const;
  std::int64_t size(int d) const;
  int dims() const;
  Dtype dtype() const;
  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * size_of(dtype()); }
  bool is_contiguous() const;
  /// Whether it has elements, and no memory of the device.
  bool is_on_host() const;
  bool requires_grad() const;
  /// The parameter's accumulated gradient; null before there is one.
  Tensor& grad() const;
  /// Whether this is the only name of the tensor and of its memory, so that it may be written over.
  bool is_sole_owner() const;

 private:
  Ref<TensorImpl> impl_;
};

using Tensors = InlineVector<Tensor, 4>;

struct TensorImpl {
  Run* run = nullptr;
  Ref<Storage> storage;
  Layout layout;
  Dtype dtype = Dtype::f32;
  bool requires_grad = false;
  // Of a tensor that lies on several devices (torch: DTensor).  What is computed from one is one, too.
  bool distributed = false;
  std::int8_t split = -1;  // this is one of `parts` along this dimension; -1: not known to be one
  std::int32_t parts = 1;
  std::int32_t references = 0;
  std::int32_t output = 0;  // which of grad_fn's outputs
  Ref<Node> grad_fn;
  Tensor base;  // of a view; it keeps its own share in the storage (torch: DifferentiableViewMeta)
  Tensor grad;
  Node* accumulator = nullptr;  // not owned: an AccumulateGrad lives while a graph needs it
  static void destroy(TensorImpl* impl);
};

inline Run& Tensor::run() const { return *impl_->run; }
inline const Layout& Tensor::layout() const { return impl_->layout; }
inline const Dims& Tensor::sizes() const { return impl_->layout.sizes; }
inline std::int64_t Tensor::size(int d) const { return impl_->layout.sizes[d]; }
inline int Tensor::dims() const { return impl_->layout.sizes.count(); }
inline Dtype Tensor::dtype() const { return impl_->dtype; }
inline std::int64_t Tensor::elements() const { return impl_->layout.elements(); }
inline bool Tensor::is_contiguous() const { return impl_->layout.is_contiguous(); }
inline bool Tensor::is_on_host() const { return impl_->storage->id == kNoBytes && elements() > 0; }
inline bool Tensor::requires_grad() const { return impl_ && impl_->requires_grad; }
inline Tensor& Tensor::grad() const { return impl_->grad; }
inline bool Tensor::is_sole_owner() const { return impl_->references == 1 && impl_->storage->references == 1; }

/// Memory for a tensor of this layout.  Throws DeviceOutOfMemory.
Tensor empty(Run& run, const Layout& layout, Dtype dtype);
Tensor empty(Run& run, const Dims& sizes, Dtype dtype);
/// Laid out as torch.empty_like does.
Tensor empty_like(const Tensor& tensor);
Tensor empty_like(const Tensor& tensor, Dtype dtype);
/// Another tensor on the same memory, without history: Tensor.detach, and what autograd saves of an output.
Tensor alias(const Tensor& tensor);
/// The same memory shown with another layout.
Tensor view_of(const Tensor& tensor, const Layout& layout);
/// A view of what nobody else has, and that it lets go of.  torch: aten::_unsafe_view
inline Tensor sole_view(Tensor view) {
  view.impl().base.reset();
  return view;
}

}  // namespace tidemark
