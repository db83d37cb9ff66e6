// What the schema of an operation says about the data it reads and writes; worked out once per operation.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace tidemark {

struct OpPlan {
  std::string name;                  // "aten::nonzero"
  std::vector<std::size_t> written;  // arguments that are written (`Tensor(a!)`), by position
  bool returns_fresh = false;        // at least one returned tensor is no view or alias of an argument
  bool reads_scalar = false;         // returns a number that it reads from the device
  bool sized_by_data = false;        // its result's size is read from the device
  bool uninitialised = false;        // empty, resize_, set_ …: memory without data
  bool overwrites = false;           // what it writes, it writes as a whole: copy_, fill_, out=
  bool zeroes = false;               // zero_ and zeros: the fill_ that they call does it
  bool like_in_shape =
      false;          // takes no more than its shape from its first argument: ones_like, full_like, randint_like …
  bool even = false;  // of data that is the same everywhere it makes data that is the same everywhere, and writes it
                      // nowhere else
  bool pointwise =
      false;  // one fresh tensor of its arguments' type, each element of it made of those at the same place
  bool keeps_zeros = false;   // bit by bit, of zeros it makes zeros
  bool joins = false;         // one fresh tensor, made of tensors side by side
  bool draws = false;         // random
  bool draws_inside = false;  // … but by another operation that it calls: that one has the generator

  bool matters() const { return returns_fresh || reads_scalar || !written.empty(); }
};

/// The plan of `op`; cached per thread.
const OpPlan& plan_of(const c10::OperatorHandle& op);
bool one_of(const std::string& name, std::initializer_list<const char*> names);

}  // namespace tidemark
