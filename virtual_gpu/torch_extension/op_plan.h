// What the schema of an operation says about the data it reads and writes; worked out once per operation.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

namespace tidemark {

struct OpPlan {
  std::string name;                       // "aten::nonzero"
  std::vector<std::size_t> written;       // arguments that are written (`Tensor(a!)`), by position
  bool returns_fresh = false;             // at least one returned tensor is no view or alias of an argument
  bool returns_scalar = false;            // returns a number or a boolean read from the device
  bool uninitialised = false;             // empty, resize_, set_ …: memory without data
  bool has_generator = false;

  bool matters() const { return returns_fresh || returns_scalar || !written.empty(); }
};

/// The plan of `op`; cached per thread.
const OpPlan& plan_of(const c10::OperatorHandle& op);

}  // namespace tidemark
