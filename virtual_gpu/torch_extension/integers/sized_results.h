// Operations whose result's size is computed on the device and read back while they run: nonzero, unique and their kin.
#pragma once
#include <ATen/core/stack.h>

#include "census.h"

namespace tidemark {

/// Promises the true count to that read, for as long as the operation runs; an operation that throws leaves nothing
/// behind.
class PromisedCount {
 public:
  /// `under_python`: a Python mode hides from us what the operation calls.
  PromisedCount(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments, const Census& census,
                bool under_python);
  ~PromisedCount();
  PromisedCount(const PromisedCount&) = delete;
  PromisedCount& operator=(const PromisedCount&) = delete;

 private:
  bool made_ = false;
};

/// After `_coalesce` of a sparse tensor: its places, which the kernel sorts where nobody sees.
void store_places(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& results);

}  // namespace tidemark
