// Host data that takes memory only where somebody wrote it (virtual_gpu/host_pages.h), and float data there that nobody
// reads: parameters before they are trained. Initialising gigabytes of it would cost minutes and the host's memory, and
// no byte on the card depends on it.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "op_plan.h"

namespace tidemark {

/// A plain CPU tensor in a storage with pages of its own.
bool is_in_host_pages(const at::Tensor& tensor);
/// Floats without known values from its first element to its last, none of which was written.
bool is_unknown(const at::Tensor& tensor);
void mark_unknown(const at::Tensor& tensor);
void mark_known(const at::Tensor& tensor);

/// If `op` would only write zeros, or numbers that nobody can know (drawn at random, or made of such), into large host
/// data, does the operation's bookkeeping without its work and returns true; the stack then holds its results.  Copies
/// are made page by page.
bool skip_host_data(const c10::OperatorHandle& op, const OpPlan& plan, torch::jit::Stack* stack);
/// After an operation that ran: remembers fresh uninitialised host tensors, forgets those that got data.
void note_host_data(const OpPlan& plan, const std::vector<c10::IValue>& arguments, const torch::jit::Stack& results,
                    std::size_t first_result);

}  // namespace tidemark
