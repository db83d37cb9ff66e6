// Small floats on the card that follow from integers alone: lengths that are divided and rounded up, as codecs for
// sound do it (transformers: models/mimi/modeling_mimi.py, _get_extra_padding_for_conv1d, 5.23.0).  Sizes hang on them.
#pragma once
#include "host_twin.h"

namespace tidemark {

/// Whether each of its numbers is what a real card would have there.
bool is_known_float(const at::Tensor& tensor);

/// Nobody knows any more what the floats are that a call writes.
void forget_floats(const OpPlan& plan, const Arguments& arguments);

/// Whether the call, made of what is true alone, gives floats that are worth knowing: it writes into known ones, or its
/// results are small.
bool gives_known_floats(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack,
                        std::size_t first_result);

/// Takes small floats of what the host has computed in its place.
void store_floats(const c10::IValue& result, const c10::IValue& host_result);

}  // namespace tidemark
