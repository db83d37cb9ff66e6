// Operators as torch's dispatcher calls them below autograd: what a selective checkpoint may keep the results of.
// torch: torch/utils/checkpoint.py, _CachingTorchDispatchMode and _CachedTorchDispatchMode (2.11.0)
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tensor/checkpoint.h"
#include "tensor/tensor.h"
#include "tensor/work.h"

namespace tidemark {

/// Stands where an operator runs, from its first allocation to its last.  In the second forward of a block that keeps
/// its results nothing runs: they are handed out in the order of the first forward, and what else it would allocate has
/// no memory.  Within one there is no other.
class Kernel {
 public:
  /// `name`: of the operator, without its overload: "mm".
  Kernel(Run& run, const char* name);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// All that it returns.
  void gives(std::initializer_list<const Tensor*> results);

  /// Whether its results were kept, so that it does not run.
  bool is_handed_out() const { return handed_out_; }
  /// In the place of an allocation.
  Ref<Storage> hand_out();
  /// Such as it makes them.
  void note(const Storage& made);
  const char* name() const { return name_; }

 private:
  void count_again(std::initializer_list<const Tensor*> results);

  Run& run_;
  const char* const name_;
  bool is_outermost_ = false, handed_out_ = false;
  CheckpointFrame* keeper_ = nullptr;  // none: nothing is kept of it
  KeptResults kept_;                   // of the first forward
  std::vector<std::uint32_t> made_;    // entries of the ledger
  std::size_t next_ = 0;
  Again before_;  // when it begins
};

/// Whether a selective checkpoint's mode sees each operator: functions that are made of several write over nothing
/// then. torch: ATen/TensorSubclassLikeUtils.h, isTensorSubclassLike (2.11.0)
bool has_dispatch_mode(const Run& run);

}  // namespace tidemark
