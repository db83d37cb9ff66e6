// Large integer data that nobody has written: it is zero everywhere, so what an operation makes of it is worked out
// from one element.
#pragma once
#include "host_twin.h"

namespace tidemark {

/// Whether all memory that `tensor` reaches is still as the kernel gave it, whole pages by its word
/// (/proc/self/pagemap), so zero. False is always safe to say.
bool is_untouched(const at::Tensor& tensor);

/// Fills `outputs` of a large operation on untouched data (`masked.all(-1)` of the comparison of floats that every safe
/// softmax makes). False: it is none, and has to be computed.
bool compute_from_one_element(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments,
                              const std::vector<at::Tensor>& outputs);

}  // namespace tidemark
