// How much an operation reads, writes and computes: what the card's clock cannot see in a kernel launch.
#pragma once
#include "host_twin.h"

namespace tidemark {

/// To be made before an operation runs, and asked to tell when it has run.
class OpWork {
 public:
  OpWork();
  /// Its results are on `stack` from `first_result` on.
  void tell(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack,
            std::size_t first_result) const;

 private:
  std::int64_t before_[3];
};

}  // namespace tidemark
