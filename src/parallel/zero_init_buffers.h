// Buffers as a module's __init__ computes them under zero.Init: on the card, where torch.arange, torch.tensor,
// torch.ones and others cast what they make in floating point to bf16, and other functions of torch do not.
// deepspeed/runtime/zero/partition_parameters.py: zero_wrapper_for_fp_tensor_constructor (0.19.8)
#pragma once
#include <string>

#include "nn/module.h"

namespace tidemark {

/// Gives the buffers of a module their memory, and leaves that of nothing else.  `rope_type`: of rope_parameters, for
/// the rotary embeddings of text.  Throws Error{unsupported} for a buffer of a kind that is not known.
void make_buffers(Run& run, Module& module, const std::string& rope_type);

}  // namespace tidemark
